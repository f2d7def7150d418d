package refdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Lock takes the repository's lock, waiting until ctx ends: while it is held, no
// other process or goroutine of this program changes references. The lock is not
// reentrant. What a process that died left half done is mended first, as by
// [Refs.Recover].
//
// The file lock, in the state directory that is made with mode 0700 when it is
// not there, is held with flock(2), so that it ends with the process. A repository
// that takes no writes is [domarkx.ErrReadOnly]; a git older than the floor is
// [domarkx.ErrUnsupported].
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

// TryLock is [Refs.Lock] unless somebody else holds the lock; then it returns false.
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

// enter does what the holder of a fresh lock has to do first, and returns what gives
// the lock back.
func (r *Refs) enter(ctx context.Context, file *os.File) (release func() error, err error) {
	if err = r.git.RequireVersion(ctx); err == nil {
		err = r.recoverLocked(ctx)
	}
	if err != nil {
		unlock(file)
		file.Close()
		return nil, err
	}
	r.held.Store(true)
	return sync.OnceValue(func() error {
		r.held.Store(false)
		err := unlock(file) // not by closing alone: a child that is being forked has the file too
		return errors.Join(err, file.Close())
	}), nil
}

// makeState makes the state directory and the journal.
func (r *Refs) makeState() error {
	for _, dir := range []string{r.git.StateDir(), r.journalDir()} {
		err := os.Mkdir(dir, 0o700)
		switch {
		case err == nil:
			if err := syncDir(filepath.Dir(dir)); err != nil {
				return readOnly("making the state directory", err)
			}
		case !errors.Is(err, fs.ErrExist):
			return readOnly("making the state directory", err)
		}
	}
	return nil
}

// lockPath opens a file, made if need be, and takes its lock.
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
		file.Close() // somebody removed the file while we waited
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

// flockContext waits for the lock of file until ctx ends; on error it closes the
// file. A wait that nobody wants any more ends by itself with the lock's holder.
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
			<-done
			file.Close()
		}()
		return context.Cause(ctx)
	}
}
