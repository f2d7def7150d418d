package overlay

import (
	"time"
)

// A File is a file or symbolic link under the folder of sessions. Its fields are
// guarded by the tree's lock; see [Tree.Attr].
type File struct {
	ino, gen uint64
	target   string // of a symbolic link
	link     bool

	name      string    // the session whose file it is; "" for scratch and for what was unlinked
	path      string    // of a file that shows, or showed, an attached one
	kept      *attached // the attached file whose content it shows; nil for none
	draft     string    // the key of the draft of a file that is no session's; "" for none
	draftPath string    // under which that stands
	links     int       // names that it has
	opens     int       // handles
	write     int       // handles for writing

	// The content: data where it is not nil, else the snapshot id, size bytes long.
	data  *content
	id    string // the snapshot that holds the content; "" when none does
	size  int64
	read  []byte   // the rendered snapshot, while it is open
	ed    *edition // of the content
	dirty bool     // the content was changed since it was last acknowledged

	mode     uint32 // permission bits
	uid, gid uint32
	accessed time.Time
	modified time.Time
	changed  time.Time
}

// A Folder is a folder under the folder of sessions.
type Folder struct {
	ino, gen uint64
	path     string // "" for the folder of sessions itself
	made     bool   // is there without anything in it
	gone     bool   // was removed
	witness  string // a session that was seen in it last

	mode     uint32
	uid, gid uint32
	modified time.Time
}

// Attr is what stat tells.
type Attr struct {
	Ino, Gen                    uint64
	Size                        int64
	Links                       uint32
	Mode                        uint32 // permission bits
	UID, GID                    uint32
	Accessed, Modified, Changed time.Time
	Symlink                     bool
}

// length returns the size of the content.
func (f *File) length() int64 {
	if f.link {
		return int64(len(f.target))
	}
	if f.data != nil {
		return f.data.size
	}
	return f.size
}

// local reports whether the content is in no snapshot.
func (f *File) local() bool { return f.id == "" }

// settle lets the content be that of a snapshot.
func (f *File) settle(id string) {
	f.id, f.size = id, f.length()
	f.shed()
}

// shed gives back the content when it can be had from the store and nobody has
// the file open.
func (f *File) shed() {
	if f.opens > 0 {
		return
	}
	f.read = nil
	f.kept.close()
	if (f.id != "" || f.kept != nil) && f.data != nil {
		f.data.close()
		f.data = nil
	}
}

// Attr returns what stat tells of a file.
func (t *Tree) Attr(f *File) Attr {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f.attr()
}

func (f *File) attr() Attr {
	return Attr{Ino: f.ino, Gen: f.gen, Size: f.length(), Links: uint32(max(f.links, 0)), Mode: f.mode, UID: f.uid, GID: f.gid,
		Accessed: f.accessed, Modified: f.modified, Changed: f.changed, Symlink: f.link}
}

// Target returns what a symbolic link points to.
func (f *File) Target() string { return f.target }

// FolderAttr returns what stat tells of a folder.
func (t *Tree) FolderAttr(d *Folder) Attr {
	t.mu.Lock()
	defer t.mu.Unlock()
	links := uint32(2)
	if d.gone {
		links = 0
	}
	return Attr{Ino: d.ino, Gen: d.gen, Links: links, Mode: d.mode, UID: d.uid, GID: d.gid, Accessed: d.modified, Modified: d.modified, Changed: d.modified}
}

// Change is what chmod, chown and utimes set; nil members stay as they are.
type Change struct {
	Mode, UID, GID     *uint32
	Accessed, Modified *time.Time
}

// SetAttr changes the attributes of a file. Those of a session are kept as long
// as the mount lives and the session does not change elsewhere.
func (t *Tree) SetAttr(f *File, c Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.register(f)
	set(&f.mode, c.Mode)
	set(&f.uid, c.UID)
	set(&f.gid, c.GID)
	set(&f.accessed, c.Accessed)
	set(&f.modified, c.Modified)
	f.changed = time.Now()
}

// SetFolderAttr changes the attributes of a folder, as long as the mount lives.
func (t *Tree) SetFolderAttr(d *Folder, c Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	set(&d.mode, c.Mode)
	set(&d.uid, c.UID)
	set(&d.gid, c.GID)
	set(&d.modified, c.Modified)
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}
