package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A Store contains the sessions of a repository. Any number of goroutines may read from it. Updates
// exclude each other, also between processes.
type Store struct {
	snapshot.Reader

	db   *odb.Database
	git  *gitcmd.Git
	refs *refdb.Refs
	tell func(error) // set by OnRollback; may be nil

	answers Answers // may be nil

	blocked map[string]error // see Block
}

// Answers observes the messages of assistants that are stored.
type Answers interface {
	Add(id string, data []byte) // the id of the blob, and the message's JSON
	Stored()                    // the update with them has ended
}

// OnAnswers sets the observer of messages of assistants. No other method may be running.
func (s *Store) OnAnswers(a Answers) { s.answers = a }

// Open opens the sessions of a repository. It writes only to finish or undo the changes of killed processes.
func Open(ctx context.Context, g *gitcmd.Git) (*Store, error) {
	db, err := odb.Open(g.GitDir, g.CommonDir)
	if err != nil {
		return nil, err
	}
	s := &Store{Reader: snapshot.NewReader(db, filepath.Join(g.CommonDir, "shallow")), db: db, git: g, refs: refdb.Open(g)}
	db.OnLazyFetch((&lazyFetch{ctx: ctx, git: g, tried: map[odb.ID]bool{}}).fetch)
	if err := s.repair(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// repair finishes or undoes what a killed process left half done, if the repository is writable and contains
// data of this program.
func (s *Store) repair(ctx context.Context) error {
	if _, err := os.Stat(s.StateDir()); err != nil {
		return nil // nothing was ever written
	}
	err := s.refs.Recover(ctx)
	if err == nil {
		err = s.finishRedaction(ctx, nil)
	}
	if err == nil {
		err = s.releaseKeeps(ctx)
	}
	if errors.Is(err, domarkx.ErrReadOnly) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil
	}
	return err
}

// releaseKeeps releases packs that killed processes protected from Git's collection. It takes the lock, so
// that pending ref changes to their objects are finished first. If another process has the lock, a later
// command does it.
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

// Close releases memory and files. The store must not be used afterwards.
func (s *Store) Close() error { return s.db.Close() }

// Refresh is [odb.Database.Refresh].
func (s *Store) Refresh() error { return s.db.Refresh() }

// BoundMemory is [odb.Database.BoundMemory].
func (s *Store) BoundMemory(n int64) { s.db.BoundMemory(n) }

// Git returns the git of the repository.
func (s *Store) Git() *gitcmd.Git { return s.git }

// WorkTree returns the top directory of the work tree; "" in a bare repository.
func (s *Store) WorkTree() string { return s.git.WorkTree }

// StateDir returns the directory of this program's machine-local state. It may not exist; it must be created
// with mode 0700.
func (s *Store) StateDir() string { return s.git.StateDir() }

// Update runs fn with a transaction, and makes all its changes durable and visible, or none. reason is
// written to the reflogs. If fn returns an error, Update returns it and changes nothing.
//
// Other updates wait, in this process and others. Plain git commands do not: if one has moved a ref that fn
// read, the error is [domarkx.ErrConflict], and the caller may try again. If the repository is not writable,
// it is [domarkx.ErrReadOnly].
func (s *Store) Update(ctx context.Context, reason string, fn func(*Tx) error) (err error) {
	release, err := s.refs.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	// Before the first sync of this update, and again after its last one.
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
	_ = s.db.Consolidate() // the update has succeeded even if this fails
	if s.answers != nil {
		s.answers.Stored()
	}
	return nil
}

// Tip returns the newest snapshot of a session. An unknown session is [domarkx.ErrNotFound] with similar
// names.
func (s *Store) Tip(ctx context.Context, name string) (domarkx.Info, error) {
	if err := s.blocked[name]; err != nil {
		return domarkx.Info{}, err
	}
	id, err := s.tip(ctx, refname.Sessions.Ref(name))
	if err != nil {
		return domarkx.Info{}, refname.Sessions.Misspelled(name, err)
	}
	if id == "" {
		return domarkx.Info{}, s.notFound(refname.Sessions, name)
	}
	return s.NamedInfo(ctx, name, id)
}

// BeginVersion starts to write a version of a resource. See [version.Store.Begin].
func (s *Store) BeginVersion(ctx context.Context, base string) (*version.Writer, error) {
	return version.New(s.db).Begin(ctx, base)
}

// Block makes every lookup and change of these sessions by their names fail with the given errors,
// for example because a mount holds saves that are not snapshots yet. Listings and reads by id
// still work. Block must not run at the same time as other methods.
func (s *Store) Block(sessions map[string]error) { s.blocked = maps.Clone(sessions) }
