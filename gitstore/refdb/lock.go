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

// Lock takes the repository's lock, and waits for it until ctx ends. While it is held, no
// other process or goroutine of this program changes references. The lock is not reentrant.
// Before Lock returns, it repairs what killed processes left (see [Refs.Recover]).
//
// The lock is a file in the state directory (created with mode 0700), held with flock(2),
// so that it ends with the process. Errors: [domarkx.ErrReadOnly] if the repository is not
// writable, [domarkx.ErrUnsupported] if git is too old.
func (r *Refs) Lock(ctx context.Context) (release func() error, err error) {
	if err := r.makeState(); err != nil {
		return nil, err
	}
	file, err := lockPath(ctx, filepath.Join(r.git.StateDir(), "lock"))
	if err != nil {
		return nil, err
	}
	return r.enter(ctx, file)
}

// TryLock is [Refs.Lock] without waiting: if the lock is held by somebody else, ok is false.
func (r *Refs) TryLock(ctx context.Context) (release func() error, ok bool, err error) {
	if err := r.makeState(); err != nil {
		return nil, false, err
	}
	path := filepath.Join(r.git.StateDir(), "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, readOnly("taking the repository's lock", err)
	}
	ok, err = tryFlock(file)
	if err != nil {
		err = fmt.Errorf("taking the repository's lock %q: %w", path, err)
	}
	if !ok || !isSame(file, path) {
		file.Close()
		return nil, false, err
	}
	release, err = r.enter(ctx, file)
	return release, err == nil, err
}

// enter completes taking the lock, and returns the function that releases it.
func (r *Refs) enter(ctx context.Context, file *os.File) (release func() error, err error) {
	if err = r.git.RequireVersion(ctx); err == nil {
		err = r.recoverLocked(ctx)
	}
	if err != nil {
		_ = unlock(file)
		file.Close()
		return nil, err
	}
	r.held.Store(true)
	return sync.OnceValue(func() error {
		r.held.Store(false)
		err := unlock(file) // closing is not enough: a child that is being forked may have inherited the file
		return errors.Join(err, file.Close())
	}), nil
}

// makeState creates the state directory and the journal.
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

// lockPath opens or creates a file and takes its lock.
func lockPath(ctx context.Context, path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, readOnly("taking the repository's lock", err)
		}
		if err := flockContext(ctx, file); err != nil {
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

// flockContext waits for the lock of file until ctx ends; on error it closes the file. The
// goroutine of an abandoned wait ends when the lock's holder releases it.
func flockContext(ctx context.Context, file *os.File) error {
	ok, err := tryFlock(file)
	if ok {
		return nil
	}
	if err != nil {
		file.Close()
		return err
	}
	done := make(chan error, 1)
	go func() { done <- waitFlock(file) }()
	select {
	case err := <-done:
		if err != nil {
			file.Close()
		}
		return err
	case <-ctx.Done():
		go func() {
			_ = errors.Join(<-done, file.Close()) // nobody waits for the lock any more
		}()
		return context.Cause(ctx)
	}
}
