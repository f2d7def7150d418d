package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A Store contains the sessions and workspaces of a repository. Several goroutines may use it at once. Only one update runs at a
// time, also if several processes make updates.
type Store struct {
	snapshot.Reader

	db   *odb.Database
	git  *gitcmd.Git
	refs *refdb.Refs
	tell func(error) // set by OnRollback; may be nil

	blocked map[string]error // see Block

	listed atomic.Pointer[listed] // by the last List
}

// Open opens the store of a repository. It writes only to finish or undo the changes of killed processes. The caller closes the
// store.
func Open(ctx context.Context, g *gitcmd.Git) (*Store, error) {
	db, err := odb.Open(g.ObjectDir, g.Hash)
	if err != nil {
		return nil, err
	}
	s := &Store{Reader: snapshot.NewReader(db, filepath.Join(g.CommonDir, "shallow")), db: db, git: g, refs: refdb.Open(ctx, g)}
	db.OnLazyFetch((&lazyFetch{ctx: ctx, git: g, tried: map[odb.ID]bool{}}).fetch)
	if err := s.repair(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// repair finishes or undoes the changes of killed processes, if the repository is writable and this program has written to it
// before.
func (s *Store) repair(ctx context.Context) error {
	if _, err := os.Stat(s.StateDir()); err != nil {
		return nil // this program has never written to the repository
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

// releaseKeeps removes the .keep files with which killed processes protected packs from git gc. It takes the repository's lock,
// so that the changes of refs to objects in these packs are finished before. If another process holds the lock, releaseKeeps
// leaves the files to a later command.
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

// Close releases memory and open files. The store must not be used after it.
func (s *Store) Close() error { return s.db.Close() }

// Refresh looks for packs that other processes have written or removed. See [odb.Database.Refresh].
func (s *Store) Refresh() error { return s.db.Refresh() }

// BoundMemory limits the memory for objects to n bytes. See [odb.Database.BoundMemory].
func (s *Store) BoundMemory(n int64) { s.db.BoundMemory(n) }

// Git returns what runs git commands in the repository.
func (s *Store) Git() *gitcmd.Git { return s.git }

// StateDir returns the path of the directory for this program's state in this repository, which is not shared with remotes. The
// directory may not exist; who creates it gives it the mode 0700.
func (s *Store) StateDir() string { return s.git.StateDir() }

// Update runs fn with a transaction. Then it makes all changes of the transaction durable and visible, or none. If fn returns an
// error, Update changes no refs and returns that error. Update writes reason to the reflogs.
//
// Other updates wait, in this process and others. Git's own commands do not wait: if one has moved a ref that fn changes, Update
// returns [domarkx.ErrConflict], and the caller may try again. If the repository is not writable, Update returns
// [domarkx.ErrReadOnly].
func (s *Store) Update(ctx context.Context, reason string, fn func(*Tx) error) (err error) {
	release, err := s.refs.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	// A sync of this update may make only a part of what git gc wrote durable: so sync all of that before the first one, and
	// again after the last one.
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
	_ = s.db.Consolidate() // an error of Consolidate does not undo the update
	return nil
}

// TipOrNone returns the newest snapshot of a session, or one without an ID if the session does not exist.
func (s *Store) TipOrNone(ctx context.Context, name string) (domarkx.Info, error) {
	if err := s.blocked[name]; err != nil {
		return domarkx.Info{}, err
	}
	id, err := s.tip(ctx, refname.Sessions.Ref(name))
	if err != nil || id == "" {
		return domarkx.Info{}, err
	}
	return s.NamedInfo(ctx, name, id)
}

// Tip returns the newest snapshot of a session. If the session does not exist, Tip returns [domarkx.ErrNotFound] with a text that
// suggests similar names.
func (s *Store) Tip(ctx context.Context, name string) (domarkx.Info, error) {
	info, err := s.TipOrNone(ctx, name)
	switch {
	case err != nil && s.blocked[name] == nil:
		return info, refname.Sessions.Misspelled(name, err)
	case err == nil && info.ID == "":
		return info, s.notFound(refname.Sessions, name)
	}
	return info, err
}

// BeginVersion starts to write a version of a resource. See [version.Reader.Begin].
func (s *Store) BeginVersion(ctx context.Context, base string) (*version.Writer, error) {
	return version.NewReader(s.db).Begin(ctx, base)
}

// Block sets an error for each of the given sessions, by name. From then on, methods that read or change one of them by name
// return its error, for example because a mount has saves of it that are not snapshots yet. Lists and reads by id still work.
// No other method may run at the same time.
func (s *Store) Block(sessions map[string]error) { s.blocked = maps.Clone(sessions) }
