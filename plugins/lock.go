package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const lockFile = "lock"

// A lock is the exclusive right to use an instance. The kernel releases it with the process.
type lock struct{ f *os.File }

// lockDirectory creates a directory and locks it. While another process holds the lock it waits
// or, with noWait, returns domarkx.ErrConflict.
func lockDirectory(ctx context.Context, dir string, noWait bool) (*lock, error) {
	for {
		if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, lockFile)
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		if noWait {
			err = atomicfile.TryLock(f)
		} else {
			err = atomicfile.Lock(ctx, f)
		}
		if err == nil && same(f, path) {
			return &lock{f}, nil
		}
		f.Close()
		if errors.Is(err, atomicfile.ErrLocked) {
			err = fmt.Errorf("another process works with it: %w", domarkx.ErrConflict)
		}
		if err != nil {
			return nil, err
		}
		// Another process removed or renamed the directory meanwhile.
	}
}

func same(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

func (l *lock) release() error {
	if l == nil || l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return f.Close()
}
