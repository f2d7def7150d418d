package sessions

import (
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Tree is the directory of sessions, with all changes that are not stored yet. Its
// methods may be called concurrently. Errors are those of package domarkx and
// syscall.Errno values.
type Tree struct {
	Config
	ctx    context.Context // of background work
	cancel context.CancelFunc

	mu          sync.Mutex
	idle        *sync.Cond // signals that a session finished its work
	epoch       uint64     // incremented when a name shows another file
	root        *Directory
	states      map[string]*sessionState // sessions that were used, by name
	files       map[string]*File         // files outside sessions, by path
	directories map[string]*Directory    // known directories, by path
	inodes      map[uint64]any           // numbers in use by *File and *Directory values
	gens        uint64
	seen        reads
	closed      bool           // no more work may start
	working     sync.WaitGroup // running saves and removals

	keeping     sync.Mutex // held while the draft of a file outside sessions changes; lock before mu
	attaching   sync.Mutex // held while images are attached; lock before keeping; guards showing
	attachTimer *time.Timer
	showing     map[string][]string // images of snapshots

	listing    sync.Mutex                        // guards attachedBy
	attachedBy map[string][]domarkx.AttachedFile // attached files of snapshots
}

// A sessionState is what the tree knows of a session beyond the store.
type sessionState struct {
	name    string
	ino     uint64          // of the session's file
	file    *File           // what the name shows; nil: the newest snapshot, or nothing during a removal
	removal *pendingRemoval // not nil while the name is hidden

	journal    sync.Mutex // held while a save is acknowledged; lock before Tree.mu
	frozen     int        // number of freezes and running acknowledgements; no save starts unless 0
	queue      []*save    // acknowledged saves without a snapshot, oldest first
	running    bool       // a save, removal or rename is running
	timer      *time.Timer
	stale      []string     // keys of drafts to delete later: of cancelled removals, or that could not be deleted
	saveErrors []*saveError // entries in errors/
}

// A pendingRemoval hides the name of a session, though the store may still have it.
type pendingRemoval struct {
	tip      string       // the newest snapshot that the tree knows; a newer one cancels the removal
	version  *baseVersion // that the name showed last
	carrier  *File        // the scratch file that the session's file was renamed to; nil if unlinked
	removing bool         // the session goes to the trash when due
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
	t := &Tree{Config: c, states: map[string]*sessionState{}, files: map[string]*File{}, directories: map[string]*Directory{}, inodes: map[uint64]any{}}
	t.idle = sync.NewCond(&t.mu)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.root = t.newDirectory("")
	t.root.made = true
	return t
}

// Root returns the directory of sessions.
func (t *Tree) Root() *Directory { return t.root }

// number returns an unused inode number for a path. Unless another file has it, it is the
// same in every mount.
func (t *Tree) number(p string) uint64 {
	h := fnv.New64a()
	h.Write([]byte("sessions/" + p))
	for ino := h.Sum64() >> 1; ; ino++ {
		if _, used := t.inodes[ino]; !used && ino > 1 {
			return ino
		}
	}
}

// storedNumber returns the inode number of a session's file that shows a snapshot. It
// differs between snapshots, so that programs such as tail -F see that the file was
// replaced.
func (t *Tree) storedNumber(name, snapshot string) uint64 {
	h := fnv.New64a()
	h.Write([]byte("sessions/" + pathOf(name) + "\x00" + snapshot))
	for ino := h.Sum64() >> 1; ; ino++ {
		if holder, used := t.inodes[ino]; (!used || holder == name) && ino > 1 {
			return ino
		}
	}
}

func (t *Tree) generation() uint64 { t.gens++; return t.gens }

func (t *Tree) newDirectory(p string) *Directory {
	d := &Directory{ino: t.number(p + "/"), gen: t.generation(), path: p, mode: 0o755, uid: t.UID, gid: t.GID, modified: time.Now()}
	if t.Saver == nil {
		d.mode = 0o555
	}
	t.inodes[d.ino] = d
	t.directories[p] = d
	return d
}

// newFile returns a new, empty file without a name.
func (t *Tree) newFile(p string, mode uint32) *File {
	now := time.Now()
	f := &File{ino: t.number(p), gen: t.generation(), data: &content{}, mode: mode, uid: t.UID, gid: t.GID, accessed: now, modified: now, changed: now}
	t.inodes[f.ino] = f
	return f
}

// stored returns a file that shows a snapshot. While nobody has touched the session, the
// same snapshot always has the same inode number and generation.
func (t *Tree) stored(name string, tip domarkx.Info) *File {
	h := fnv.New64a()
	h.Write([]byte(tip.ID))
	// Commits have whole seconds. The fraction makes the times of different snapshots
	// differ, because editors compare times to detect changes.
	at := time.Unix(tip.Date, int64(h.Sum64()%uint64(time.Second)))
	f := &File{name: name, links: 1, id: tip.ID, size: tip.Bytes, version: &baseVersion{id: tip.ID}, mode: 0o644, uid: t.UID, gid: t.GID,
		accessed: at, modified: at, changed: at}
	if t.Saver == nil {
		f.mode = 0o444
	}
	f.ino, f.gen = t.storedNumber(name, tip.ID), h.Sum64()|1<<63
	if t.states[name] != nil {
		f.gen = t.generation()
	}
	return f
}

func (t *Tree) state(name string) *sessionState {
	s := t.states[name]
	if s == nil {
		s = &sessionState{name: name}
		t.states[name] = s
	}
	return s
}

// register makes a file that a lookup returned the one that its session's name shows,
// unless the name shows a file or is hidden.
func (t *Tree) register(f *File) *sessionState {
	if f.name == "" {
		return nil
	}
	s := t.state(f.name)
	if s.file == nil && s.removal == nil {
		t.show(s, f)
	}
	return s
}

func (t *Tree) show(s *sessionState, f *File) {
	s.file = f
	if s.ino != f.ino && t.inodes[s.ino] == s.name {
		delete(t.inodes, s.ino)
	}
	s.ino = f.ino
	t.inodes[f.ino] = s.name // reserved for the session while the mount lives
	t.epoch++
}

// hide separates a session from its file, which keeps its content but no longer belongs
// to the session. g is the pending removal of the session, or nil.
func (t *Tree) hide(s *sessionState, g *pendingRemoval) {
	if f := s.file; f != nil {
		if f.name == s.name {
			f.name = ""
		}
		if s.ino == f.ino {
			s.ino = 0
		}
		t.inodes[f.ino] = f
		s.file = nil
	}
	s.removal = g
	t.epoch++
}

// release frees the inode number of a file without names and handles.
func (t *Tree) release(f *File) {
	if f.links <= 0 && f.opens == 0 {
		f.kept.close()
		if t.inodes[f.ino] == f {
			delete(t.inodes, f.ino)
		}
		if f.data != nil {
			f.data.close()
			f.data = nil
		}
	}
}

// lockWithTips locks t.mu and returns the newest snapshots of sessions; they are current
// as long as t.mu is locked. The ID is empty for a session that does not exist. On an
// error t.mu is not locked.
func (t *Tree) lockWithTips(ctx context.Context, names ...string) ([]domarkx.Info, error) {
	tips := make([]domarkx.Info, len(names))
	for {
		t.mu.Lock()
		epoch := t.epoch
		t.mu.Unlock()
		for i, name := range names {
			tips[i] = domarkx.Info{}
			if name == "" {
				continue
			}
			info, err := t.Sessions.Info(ctx, name)
			switch {
			case err == nil:
				tips[i] = info
			case !errors.Is(err, domarkx.ErrNotFound) && !errors.Is(err, domarkx.ErrInvalid):
				return nil, err
			}
		}
		t.mu.Lock()
		if t.epoch == epoch {
			return tips, nil
		}
		t.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// shown returns the file that a session's name shows, or nil. tip is the newest snapshot.
func (t *Tree) shown(name string, tip domarkx.Info) *File {
	s := t.states[name]
	if s == nil {
		if tip.ID == "" {
			return nil
		}
		return t.stored(name, tip)
	}
	if s.removal != nil {
		if tip.ID == "" || tip.ID == s.removal.tip || len(s.queue) > 0 || s.running {
			return nil
		}
		t.takeBack(s) // the session was changed or created outside the mount
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
		t.show(s, t.stored(name, tip))
	}
	return s.file
}

// takeBack cancels the pending removal of a session, so that its name shows it again.
func (t *Tree) takeBack(s *sessionState) {
	if s.removal.key != "" {
		s.stale = append(s.stale, s.removal.key)
	}
	s.removal = nil
	t.epoch++
}
