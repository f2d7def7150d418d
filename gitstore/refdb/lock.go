package refdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// Lock takes the repository's lock, and waits for it until ctx ends. Until release is called, no other process or goroutine
// of this program can take it and change references. The lock is not reentrant. Before Lock returns, it repairs what killed
// processes left (see [Refs.Recover]).
//
// The lock is a file in the state directory, which Lock creates with the mode 0700. It is locked with flock(2), so that
// the lock ends with the process. Lock returns [domarkx.ErrReadOnly] if the repository is not writable, and
// [domarkx.ErrUnsupported] if git is too old.
func (r *Refs) Lock(ctx context.Context) (release func() error, err error) {
	if err := r.makeState(); err != nil {
		return nil, err
	}
	file, err := lockPath(ctx, filepath.Join(r.git.StateDir(), "lock"), true)
	if err != nil {
		return nil, err
	}
	return r.enter(ctx, file)
}

// TryLock is like [Refs.Lock], but does not wait: it returns false for ok if the lock is held.
func (r *Refs) TryLock(ctx context.Context) (release func() error, ok bool, err error) {
	if err := r.makeState(); err != nil {
		return nil, false, err
	}
	file, err := lockPath(ctx, filepath.Join(r.git.StateDir(), "lock"), false)
	if errors.Is(err, atomicfile.ErrLocked) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	release, err = r.enter(ctx, file)
	return release, err == nil, err
}

// enter checks git's version and repairs what killed processes left, after the repository's lock file was locked. It
// returns the function that releases the lock.
func (r *Refs) enter(ctx context.Context, file *os.File) (release func() error, err error) {
	if err = r.git.RequireVersion(ctx); err == nil {
		err = r.recoverLocked(ctx)
	}
	if err != nil {
		_ = atomicfile.Unlock(file)
		file.Close()
		return nil, err
	}
	r.held.Store(true)
	return sync.OnceValue(func() error {
		r.held.Store(false)
		err := atomicfile.Unlock(file) // closing it is not enough, since a child may have inherited the file
		return errors.Join(err, file.Close())
	}), nil
}

// Held reports whether r holds the repository's lock.
func (r *Refs) Held() bool { return r.held.Load() }

// makeState creates the state directory and the journal's directory.
func (r *Refs) makeState() error {
	for _, dir := range []string{r.git.StateDir(), r.journalDir()} {
		err := os.Mkdir(dir, 0o700)
		switch {
		case err == nil:
			if err := atomicfile.SyncDir(filepath.Dir(dir)); err != nil {
				return readOnly("making the state directory", err)
			}
		case !errors.Is(err, fs.ErrExist):
			return readOnly("making the state directory", err)
		}
	}
	return nil
}

// lockPath opens or creates a file and locks it. If wait is set, it waits for the lock until ctx ends.
func lockPath(ctx context.Context, path string, wait bool) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, readOnly("taking the repository's lock", err)
		}
		if err = atomicfile.TryLock(file); wait && errors.Is(err, atomicfile.ErrLocked) {
			err = atomicfile.Lock(ctx, file)
		}
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("taking the repository's lock %q: %w", path, err)
		}
		if isSame(file, path) {
			return file, nil
		}
		file.Close() // the file was removed while we waited
	}
}

func isSame(file *os.File, path string) bool {
	a, err := file.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}
