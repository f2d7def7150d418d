package sessions

import (
	"syscall"
	"time"

	"github.com/domarkx/domarkx/fusefs/sessions/basis"
	"github.com/domarkx/domarkx/fusefs/sessions/content"
)

// A File is a file or symbolic link below the directory of sessions. Its fields
// are read and changed in steps; [Tree.Attr] returns them.
type File struct {
	Attributes
	target string // of a symbolic link
	link   bool

	name      string    // the session; "" for scratch and unlinked files
	path      string    // of an attached file that it shows
	kept      *attached // the attached file that it shows, or nil
	draft     string    // key of the draft of a file outside sessions, or ""
	draftPath string    // path in that draft
	links     int       // number of names
	opens     int       // handles
	write     int       // handles for writing

	storage
}

// A storage holds the content of a file: data if that is not nil, else the snapshot id of size bytes.
type storage struct {
	data    *content.Content
	id      string // snapshot with the content, or ""
	size    int64
	read    []byte         // the rendered snapshot while the file is open
	version *basis.Version // of the content
	dirty   bool           // the content has unacknowledged changes
	failed  bool           // storing it failed when it was closed
}

// Attributes are what stat(2) returns of files and directories alike. Directories have no use for the times but one.
type Attributes struct {
	Ino, Gen                    uint64
	Mode                        uint32 // permission bits
	UID, GID                    uint32
	Accessed, Modified, Changed time.Time
}

// A Directory is a directory below the directory of sessions.
type Directory struct {
	Attributes
	path    string // "" for the root
	made    bool   // exists even if empty
	removed bool   // was removed
	witness string // the session in it that was found last
}

// Attr holds all attributes that stat(2) returns.
type Attr struct {
	Attributes
	Kind  uint32 // syscall.S_IFREG, S_IFLNK or S_IFDIR
	Size  int64
	Links uint32
}

func (f *File) kind() uint32 {
	if f.link {
		return syscall.S_IFLNK
	}
	return syscall.S_IFREG
}

// length returns the size of the content.
func (f *File) length() int64 {
	if f.link {
		return int64(len(f.target))
	}
	if f.data != nil {
		return f.data.Size
	}
	return f.size
}

// ready reports whether readAt and load have all that they need.
func (f *File) ready() bool {
	return f.data != nil || f.kept != nil && f.kept.content != nil || f.kept == nil && f.read != nil
}

// readAt reads from the content, or reports false if it must be fetched first.
func (f *File) readAt(p []byte, off int64) (n int, ready bool, err error) {
	switch {
	case !f.ready():
		return 0, false, nil
	case f.data != nil:
		n, err = f.data.ReadAt(p, off)
	case f.kept != nil:
		n, err = f.kept.readAt(p, off)
	case off < int64(len(f.read)):
		n = copy(p, f.read[off:])
	}
	return n, true, err
}

// load moves the content into memory, or reports false if it must be fetched first.
func (f *File) load() (ready bool, err error) {
	switch {
	case f.data == nil && f.kept != nil && f.size > content.MaxDocument:
		return false, syscall.EFBIG
	case !f.ready():
		return false, nil
	case f.data != nil:
	case f.kept != nil:
		data := make([]byte, f.size)
		if _, err := f.kept.readAt(data, 0); err != nil {
			return false, err
		}
		f.data = content.Of(data)
	default:
		f.data, f.read = content.Of(f.read), nil
	}
	return true, nil
}

// local reports whether the content is not stored in a snapshot.
func (f *File) local() bool { return f.id == "" }

// shed frees the memory of the content if the content is stored and no program has the
// file open.
func (f *File) shed() {
	if f.opens > 0 {
		return
	}
	f.read = nil
	f.kept.drop()
	if (f.id != "" || f.kept != nil) && f.data != nil {
		f.data.Close()
		f.data = nil
	}
}

// Attr returns the attributes of a file.
func (t *Tree) Attr(f *File) (a Attr) {
	t.state.Do(func(*state) { a = Attr{f.Attributes, f.kind(), f.length(), uint32(max(f.links, 0))} })
	return a
}

// Target returns the target of a symbolic link.
func (f *File) Target() string { return f.target }

// DirectoryAttr returns the attributes of a directory.
func (t *Tree) DirectoryAttr(d *Directory) (a Attr) {
	t.state.Do(func(*state) {
		a = Attr{Attributes: d.Attributes, Kind: syscall.S_IFDIR, Links: 2}
		a.Accessed, a.Changed = d.Modified, d.Modified
		if d.removed {
			a.Links = 0
		}
	})
	return a
}

// SetAttr changes the attributes of a file that chmod, chown and utimes set. Nothing stores them: they last until the
// mount ends or, for a session's file, the session is changed outside the mount.
func (t *Tree) SetAttr(f *File, change func(*Attributes)) {
	t.state.Do(func(st *state) {
		st.register(f)
		change(&f.Attributes)
		f.Changed = time.Now()
	})
}

// SetDirectoryAttr changes the attributes of a directory until the mount ends.
func (t *Tree) SetDirectoryAttr(d *Directory, change func(*Attributes)) {
	t.state.Do(func(*state) { change(&d.Attributes) })
}
