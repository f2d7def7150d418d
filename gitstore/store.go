package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// A Store is the sessions of one repository. Any number of goroutines may read
// from one; updates exclude each other, also between processes.
type Store struct {
	reader
	git  *gitcmd.Git
	refs *refdb.Refs
	tell func(error) // what OnRollback sets; nil for nothing

	blocked map[string]error // see Block
}

// Open opens the sessions of a repository. It writes nothing, except that it ends
// what a killed process left half done.
func Open(ctx context.Context, g *gitcmd.Git) (*Store, error) {
	db, err := odb.Open(g.GitDir, g.CommonDir)
	if err != nil {
		return nil, err
	}
	s := &Store{reader: reader{db: db, shallow: filepath.Join(g.CommonDir, "shallow"), links: &linkWalks{}, files: &fileCache{}}, git: g, refs: refdb.Open(g)}
	db.OnLazyFetch((&lazyFetch{ctx: ctx, git: g, tried: map[odb.ID]bool{}}).bring)
	if err := s.mend(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// mend ends what a killed process left half done, where the repository takes
// writes and there is anything of this program in it at all.
func (s *Store) mend(ctx context.Context) error {
	if _, err := os.Stat(s.StateDir()); err != nil {
		return nil // nothing was ever written
	}
	err := s.refs.Recover(ctx)
	if err == nil {
		err = s.releaseKeeps(ctx)
	}
	if errors.Is(err, domarkx.ErrReadOnly) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil
	}
	return err
}

// releaseKeeps lets Git collect what killed processes kept from it. It does so under
// the lock, when all changes that these had begun are finished: until then the objects
// may be reached by no ref. While another process has the lock, it leaves that to a
// later command.
func (s *Store) releaseKeeps(ctx context.Context) error {
	if left, err := s.db.HasLeftKeeps(); !left || err != nil {
		return err
	}
	release, ok, err := s.refs.TryLock(ctx)
	if !ok || err != nil {
		return err
	}
	return errors.Join(s.db.ReleaseKeeps(), release())
}

// Close gives back memory and files. The store must not be used any more.
func (s *Store) Close() error { return s.db.Close() }

// Refresh is [odb.Database.Refresh].
func (s *Store) Refresh() error { return s.db.Refresh() }

// BoundMemory is [odb.Database.BoundMemory].
func (s *Store) BoundMemory(n int64) { s.db.BoundMemory(n) }

// Git returns how to run git on the repository.
func (s *Store) Git() *gitcmd.Git { return s.git }

// WorkTree returns the top of the work tree; "" in a bare repository.
func (s *Store) WorkTree() string { return s.git.WorkTree }

// StateDir returns the folder of what is local to this machine. It may not exist
// yet; whoever makes it gives it the mode 0700.
func (s *Store) StateDir() string { return s.git.StateDir() }

// MapName is [MapName].
func (s *Store) MapName(name string) string { return MapName(name) }

// Update runs fn with a transaction and makes what fn did durable and visible, all
// of it or nothing. reason is for the reflogs. An error of fn is returned as it is, and
// nothing is changed.
//
// Other updates wait meanwhile, in this process and others; plain git commands
// do not: when one moved a ref that fn looked at, the error is
// [domarkx.ErrConflict], and the caller may try again. In a repository that takes no
// writes it is [domarkx.ErrReadOnly].
func (s *Store) Update(ctx context.Context, reason string, fn func(*Tx) error) (err error) {
	release, err := s.refs.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	// Before the first sync of this update, and again after its last.
	if err := s.syncCollected(); err != nil {
		return err
	}
	batch := s.db.Begin()
	defer batch.Abort()
	tx := newTx(ctx, s, batch)
	if err := fn(tx); err != nil {
		return err
	}
	changes := tx.refChanges()
	if len(changes) == 0 {
		return nil
	}
	if err := batch.Sync(); err != nil {
		return fmt.Errorf("store objects: %w", err)
	}
	if err := s.refs.Update(ctx, reason, changes...); err != nil {
		return err
	}
	if err := s.syncCollected(); err != nil {
		return err
	}
	if err := batch.Settle(); err != nil {
		return fmt.Errorf("store objects: %w", err)
	}
	_ = s.db.Consolidate() // the change is made, whether packs can be joined or not
	return nil
}

// Tip says what the newest snapshot of a session is. There being no such session
// is [domarkx.ErrNotFound], with names that are like it.
func (s *Store) Tip(ctx context.Context, name string) (domarkx.Info, error) {
	if err := s.blocked[name]; err != nil {
		return domarkx.Info{}, err
	}
	id, err := s.tip(ctx, SessionRef(name))
	if err != nil {
		return domarkx.Info{}, sessions.misspelled(name, err)
	}
	if id == "" {
		return domarkx.Info{}, s.notFound(sessions, name)
	}
	return s.named(ctx, name, id)
}

// named is Info with the session's name, also in errors.
func (r reader) named(ctx context.Context, name, id string) (domarkx.Info, error) {
	info, err := r.Info(ctx, id)
	if err != nil {
		return info, fmt.Errorf("session %q: %w", name, err)
	}
	info.Name = name
	return info, nil
}
