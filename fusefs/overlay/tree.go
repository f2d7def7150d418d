package overlay

import (
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	"github.com/domarkx/domarkx"
)

// A Tree is the folder of sessions with all that programs do in it. Its methods
// may be called by several goroutines at once. Their errors are those of package
// domarkx and syscall.Errno values.
type Tree struct {
	Config
	ctx    context.Context // of what goes on after a call returned
	cancel context.CancelFunc

	mu      sync.Mutex
	idle    *sync.Cond // a slot ended its work
	epoch   uint64     // counts changes of what names stand for
	root    *Folder
	slots   map[string]*slot   // sessions that were touched, by name
	files   map[string]*File   // scratch, by path
	folders map[string]*Folder // that were seen, by path
	inodes  map[uint64]any     // numbers in use by *File and *Folder values
	gens    uint64
	seen    reads
	closed  bool           // nothing is begun any more
	working sync.WaitGroup // saves and removals under way

	keeping     sync.Mutex // held while the draft of a file that is no session's changes; taken before the lock
	attaching   sync.Mutex // held while images are attached; taken before keeping, and guards showing
	attachTimer *time.Timer
	showing     map[string][]string // the images that snapshots show

	listing    sync.Mutex                        // guards attachedBy
	attachedBy map[string][]domarkx.AttachedFile // the files that snapshots keep
}

// A slot is what there is to know of one session beyond what the store knows.
type slot struct {
	name string
	ino  uint64 // of the session's file
	file *File  // what the name shows; nil: the store's newest snapshot, or nothing when gone
	gone *gone  // the name shows nothing

	journal  sync.Mutex // held while a save is acknowledged; taken before the tree's lock
	frozen   int        // acknowledgements under way: no save begins
	queue    []*save    // acknowledged, not yet snapshots, oldest first
	running  bool       // a save, removal or rename is under way
	timer    *time.Timer
	stale    []string   // drafts of removals that were taken back
	troubles []*trouble // what errors/ shows
}

// A gone says that a session's name shows nothing, though the store may have it.
type gone struct {
	tip      string   // the store's newest snapshot as far as the mount knows; another one shows again
	ed       *edition // what was there
	carrier  *File    // the scratch file that it was renamed to; nil when it was unlinked
	removing bool     // it is to be removed
	due      time.Time
	failures int
	key      string // of the draft of the removal
}

// New returns a tree. It does nothing by itself until it is used or [Tree.Adopt]
// is called; [Tree.Close] ends it.
func New(c Config) *Tree {
	if c.Pace == (Pace{}) {
		c.Pace = DefaultPace
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Tree{Config: c, slots: map[string]*slot{}, files: map[string]*File{}, folders: map[string]*Folder{}, inodes: map[uint64]any{}}
	t.idle = sync.NewCond(&t.mu)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.root = t.newFolder("")
	t.root.made = true
	return t
}

// Root returns the folder of sessions.
func (t *Tree) Root() *Folder { return t.root }

// number returns an inode number that stays the same over mounts where it can.
func (t *Tree) number(p string) uint64 {
	h := fnv.New64a()
	h.Write([]byte("sessions/" + p))
	for ino := h.Sum64() >> 1; ; ino++ {
		if _, used := t.inodes[ino]; !used && ino > 1 {
			return ino
		}
	}
}

// storedNumber returns the inode number of a session's file that shows a snapshot. It is
// another one for each snapshot, so that programs which look at the number, as tail -F
// does, see that the file was replaced.
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

func (t *Tree) newFolder(p string) *Folder {
	d := &Folder{ino: t.number(p + "/"), gen: t.generation(), path: p, mode: 0o755, uid: t.UID, gid: t.GID, modified: time.Now()}
	if t.Saver == nil {
		d.mode = 0o555
	}
	t.inodes[d.ino] = d
	t.folders[p] = d
	return d
}

// newFile returns a new, empty file without a name.
func (t *Tree) newFile(p string, mode uint32) *File {
	now := time.Now()
	f := &File{ino: t.number(p), gen: t.generation(), data: &content{}, mode: mode, uid: t.UID, gid: t.GID, accessed: now, modified: now, changed: now}
	t.inodes[f.ino] = f
	return f
}

// stored returns a file that shows a snapshot. As long as its session was not
// touched, the same snapshot is always the same inode.
func (t *Tree) stored(name string, tip domarkx.Info) *File {
	h := fnv.New64a()
	h.Write([]byte(tip.ID))
	// Commits have whole seconds. The fraction tells those of one second apart:
	// editors look at the time to see whether a file changed.
	at := time.Unix(tip.Date, int64(h.Sum64()%uint64(time.Second)))
	f := &File{name: name, links: 1, id: tip.ID, size: tip.Bytes, ed: &edition{id: tip.ID}, mode: 0o644, uid: t.UID, gid: t.GID,
		accessed: at, modified: at, changed: at}
	if t.Saver == nil {
		f.mode = 0o444
	}
	f.ino, f.gen = t.storedNumber(name, tip.ID), h.Sum64()|1<<63
	if t.slots[name] != nil {
		f.gen = t.generation()
	}
	return f
}

func (t *Tree) slot(name string) *slot {
	s := t.slots[name]
	if s == nil {
		s = &slot{name: name}
		t.slots[name] = s
	}
	return s
}

// register lets the tree remember a session's file that it made at a lookup.
func (t *Tree) register(f *File) *slot {
	if f.name == "" {
		return nil
	}
	s := t.slot(f.name)
	if s.file == nil && s.gone == nil {
		t.show(s, f)
	}
	return s
}

// show lets a session's name show a file.
func (t *Tree) show(s *slot, f *File) {
	s.file = f
	if s.ino != f.ino && t.inodes[s.ino] == s.name {
		delete(t.inodes, s.ino)
	}
	s.ino = f.ino
	t.inodes[f.ino] = s.name // stays the session's while the mount lives
	t.epoch++
}

// hide lets a session's name show nothing; its file goes on without the session.
func (t *Tree) hide(s *slot, g *gone) {
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
	s.gone = g
	t.epoch++
}

// release gives back the number of a file that has no name any more.
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

// lockWithTips takes the lock, and returns the newest snapshots of sessions as
// the store has them at that moment; an empty ID where there is none. On an error
// the lock is not taken.
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

// shown returns the file that a session's name shows, or nil.
func (t *Tree) shown(name string, tip domarkx.Info) *File {
	s := t.slots[name]
	if s == nil {
		if tip.ID == "" {
			return nil
		}
		return t.stored(name, tip)
	}
	if s.gone != nil {
		if tip.ID == "" || tip.ID == s.gone.tip || len(s.queue) > 0 || s.running {
			return nil
		}
		t.takeBack(s) // somebody else changed it or made it again
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

// takeBack lets a name that showed nothing show its session again.
func (t *Tree) takeBack(s *slot) {
	if s.gone.key != "" {
		s.stale = append(s.stale, s.gone.key)
	}
	s.gone = nil
	t.epoch++
}
