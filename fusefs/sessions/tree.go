package sessions

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/internal/recent"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
	"github.com/domarkx/domarkx/fusefs/sessions/content"
	"github.com/domarkx/domarkx/fusefs/sessions/monitor"
)

// A Tree is the directory of sessions, with all changes that are not stored yet. Its
// methods may be called concurrently. Errors are those of package domarkx and
// syscall.Errno values.
type Tree struct {
	Config
	ctx    context.Context // of background work
	cancel context.CancelFunc

	root    *Directory
	state   *monitor.Monitor[state]
	working sync.WaitGroup // running saves and removals

	keeping   sync.Mutex // held while the draft of a file outside sessions changes; no step may wait for it
	attaching sync.Mutex // held while images are attached; lock before keeping

	showing    recent.Cache[string, []string]               // images of snapshots
	attachedBy recent.Cache[string, []domarkx.AttachedFile] // attached files of snapshots
}

// A state holds the data of a tree. Each operation of the tree is a few steps, between which
// it asks the store and the journal. A part of a step is a method of state, or of what is
// in it: it has nothing there to wait for, and cannot let other steps in.
type state struct {
	settings
	epoch       uint64                   // incremented when a name shows another file
	sessions    map[string]*sessionState // that were used, by name
	files       map[string]*File         // files outside sessions, by path
	directories map[string]*Directory    // known directories, by path
	inodes      map[uint64]any           // numbers in use by *File and *Directory values
	gens        uint64
	seen        basis.Reads
	closed      bool // no more work may start
	attachTimer *time.Timer
}

// settings do not change while a tree is in use.
type settings struct {
	readOnly bool
	attaches bool // images
	uid, gid uint32
	timing   Timing
	after    func(time.Duration, func(*Tree)) *time.Timer // starts work later, outside of all steps
}

// A sessionState is what the tree knows of a session beyond the store.
type sessionState struct {
	name    string
	ino     uint64          // of the session's file
	file    *File           // what the name shows; nil: the newest snapshot, or nothing during a removal
	removal *pendingRemoval // not nil while the name is hidden

	held       bool    // one goroutine has its drafts to itself: it froze the session, or is writing one; no save starts
	queue      []*save // acknowledged saves without a snapshot, oldest first
	running    bool    // a save, removal or rename is running
	timer      *time.Timer
	stale      []string     // keys of drafts to delete later: of cancelled removals, or that could not be deleted
	saveErrors []*saveError // entries in errors/
}

// A pendingRemoval hides the name of a session, though the store may still have it.
type pendingRemoval struct {
	tip      string         // the newest snapshot that the tree knows; a newer one cancels the removal
	version  *basis.Version // that the name showed last
	carrier  *File          // the scratch file that the session's file was renamed to; nil if unlinked
	removing bool           // the session goes to the trash when due
	due      time.Time
	failures int
	key      string // key of the removal's draft
}

// New returns a tree without drafts. The caller must end it with [Tree.Close].
func New(c Config) *Tree {
	if c.Timing == (Timing{}) {
		c.Timing = DefaultTiming
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Tree{Config: c}
	t.showing.Most, t.attachedBy.Most = maxShown, maxAttachedLists
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.state = monitor.New(state{
		settings: settings{readOnly: c.Saver == nil, attaches: c.Attacher != nil, timing: c.Timing, after: t.after,
			uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())},
		sessions: map[string]*sessionState{}, files: map[string]*File{}, directories: map[string]*Directory{}, inodes: map[uint64]any{},
	})
	t.state.Do(func(st *state) {
		t.root = st.newDirectory("")
		t.root.made = true
	})
	return t
}

func (t *Tree) after(d time.Duration, work func(*Tree)) *time.Timer {
	return time.AfterFunc(d, func() { work(t) })
}

// Root returns the directory of sessions.
func (t *Tree) Root() *Directory { return t.root }

// number returns an unused inode number for a path. Unless another file has it, it is the
// same in every mount.
func (st *state) number(p string) uint64 { return st.numberOf(p, "") }

// storedNumber returns the inode number of a session's file that shows a snapshot. It
// differs between snapshots, so that programs such as tail -F see that the file was
// replaced.
func (st *state) storedNumber(name, snapshot string) uint64 {
	return st.numberOf(pathOf(name)+"\x00"+snapshot, name)
}

// numberOf returns the number for a key that is unused, or reserved for a session.
func (st *state) numberOf(key, session string) uint64 {
	h := fnv.New64a()
	h.Write([]byte("sessions/" + key))
	for ino := h.Sum64() >> 1; ; ino++ {
		if holder, used := st.inodes[ino]; (!used || holder == session) && ino > 1 {
			return ino
		}
	}
}

func (st *state) generation() uint64 { st.gens++; return st.gens }

func (st *state) newDirectory(p string) *Directory {
	d := &Directory{path: p, Attributes: st.attributes(p+"/", 0o755, time.Now())}
	d.Gen = st.generation()
	if st.readOnly {
		d.Mode = 0o555
	}
	st.inodes[d.Ino] = d
	st.directories[p] = d
	return d
}

// attributes returns those of something new at a path, without a generation.
func (st *state) attributes(p string, mode uint32, at time.Time) Attributes {
	return Attributes{Ino: st.number(p), Mode: mode, UID: st.uid, GID: st.gid, Accessed: at, Modified: at, Changed: at}
}

// newFile returns a new, empty file without a name.
func (st *state) newFile(p string, mode uint32) *File {
	f := &File{Attributes: st.attributes(p, mode, time.Now()), storage: storage{data: &content.Content{}}}
	f.Gen = st.generation()
	st.inodes[f.Ino] = f
	return f
}

// stored returns a file that shows a snapshot. While nobody has touched the session, the
// same snapshot always has the same inode number and generation.
func (st *state) stored(name string, tip domarkx.Info) *File {
	h := fnv.New64a()
	h.Write([]byte(tip.ID))
	// Commits have whole seconds. The fraction makes the times of different snapshots
	// differ, because editors compare times to detect changes.
	at := time.Unix(tip.Date, int64(h.Sum64()%uint64(time.Second)))
	f := &File{name: name, links: 1, Attributes: st.attributes(pathOf(name), 0o644, at),
		storage: storage{id: tip.ID, size: tip.Bytes, version: &basis.Version{ID: tip.ID}}}
	if st.readOnly {
		f.Mode = 0o444
	}
	f.Ino, f.Gen = st.storedNumber(name, tip.ID), h.Sum64()|1<<63
	if st.sessions[name] != nil {
		f.Gen = st.generation()
	}
	return f
}

func (st *state) session(name string) *sessionState {
	s := st.sessions[name]
	if s == nil {
		s = &sessionState{name: name}
		st.sessions[name] = s
	}
	return s
}

// register makes a file that a lookup returned the one that its session's name shows,
// unless the name shows a file or is hidden.
func (st *state) register(f *File) {
	if f.name == "" {
		return
	}
	if s := st.session(f.name); s.file == nil && s.removal == nil {
		st.show(s, f)
	}
}

func (st *state) show(s *sessionState, f *File) {
	s.file = f
	if s.ino != f.Ino && st.inodes[s.ino] == s.name {
		delete(st.inodes, s.ino)
	}
	s.ino = f.Ino
	st.inodes[f.Ino] = s.name // reserved for the session while the mount lives
	st.epoch++
}

// hide separates a session from its file, which keeps its content but no longer belongs
// to the session. g is the pending removal of the session, or nil.
func (st *state) hide(s *sessionState, g *pendingRemoval) {
	if f := s.file; f != nil {
		if f.name == s.name {
			f.name = ""
		}
		if s.ino == f.Ino {
			s.ino = 0
		}
		st.inodes[f.Ino] = f
		s.file = nil
	}
	s.removal = g
	st.epoch++
}

// release frees the inode number of a file without names and handles.
func (st *state) release(f *File) {
	if f.links <= 0 && f.opens == 0 {
		f.kept.drop()
		if st.inodes[f.Ino] == f {
			delete(st.inodes, f.Ino)
		}
		if f.data != nil {
			f.data.Close()
			f.data = nil
		}
	}
}

// shows returns the file that a session's name shows, or nil, and the newest snapshot. The
// ID is empty if the session does not exist.
func (t *Tree) shows(ctx context.Context, session string) (f *File, tip domarkx.Info, err error) {
	err = t.withStored(ctx, func() (err error) {
		tip, err = t.tip(ctx, session)
		return err
	}, func(st *state) error {
		f = st.shown(session, tip)
		return nil
	})
	return f, tip, err
}

// withList does a step with the stored sessions whose names start with a prefix.
func (t *Tree) withList(ctx context.Context, prefix string, step func(*state, []domarkx.Info) error) error {
	var infos []domarkx.Info
	return t.withStored(ctx, func() (err error) {
		if hidden(prefix) {
			return nil
		}
		infos, err = t.Sessions.List(ctx, prefix)
		return cmp.Or(err, ctx.Err())
	}, func(st *state) error { return step(st, infos) })
}

// withStored reads the store and then does a step for which that is current: it reads
// again if a name shows another file meanwhile.
func (t *Tree) withStored(ctx context.Context, read func() error, step func(*state) error) error {
	for {
		var epoch uint64
		t.state.Do(func(st *state) { epoch = st.epoch })
		if err := read(); err != nil {
			return err
		}
		current := false
		err := t.state.Try(func(st *state) error {
			if current = st.epoch == epoch; !current {
				return ctx.Err()
			}
			return step(st)
		})
		if current || err != nil {
			return err
		}
	}
}

// session returns what the tree knows of a session.
func (t *Tree) session(name string) (s *sessionState) {
	t.state.Do(func(st *state) { s = st.session(name) })
	return s
}

// tip returns the newest snapshot of a session. The ID is empty if the session does not
// exist.
func (t *Tree) tip(ctx context.Context, name string) (domarkx.Info, error) {
	info, err := t.Sessions.Info(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrInvalid) {
		return domarkx.Info{}, nil
	}
	return info, err
}

// shown returns the file that a session's name shows, or nil. tip is the newest snapshot.
func (st *state) shown(name string, tip domarkx.Info) *File {
	s := st.sessions[name]
	if s == nil {
		if tip.ID == "" {
			return nil
		}
		return st.stored(name, tip)
	}
	if s.removal != nil {
		if tip.ID == "" || tip.ID == s.removal.tip || len(s.queue) > 0 || s.running {
			return nil
		}
		st.takeBack(s) // the session was changed or created outside the mount
	}
	if s.file != nil && s.file.local() {
		return s.file
	}
	if tip.ID == "" {
		s.file = nil
		return nil
	}
	if s.file == nil || s.file.id != tip.ID {
		s.file = nil
		st.show(s, st.stored(name, tip))
	}
	return s.file
}

// takeBack cancels the pending removal of a session, so that its name shows it again.
func (st *state) takeBack(s *sessionState) {
	if s.removal.key != "" {
		s.stale = append(s.stale, s.removal.key)
	}
	s.removal = nil
	st.epoch++
}
