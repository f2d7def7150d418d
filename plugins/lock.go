package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/domarkx/domarkx"
)

const lockFile = "lock"

// A lock is the right to work with an instance. It ends with its process.
type lock struct{ f *os.File }

// lockFolder makes a folder and locks it, waiting while another has it locked, or
// failing with domarkx.ErrConflict.
func lockFolder(ctx context.Context, dir string, noWait bool) (*lock, error) {
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
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
		if err := waitFlock(ctx, f, noWait); err != nil {
			f.Close()
			return nil, err
		}
		if same(f, path) {
			return &lock{f}, nil
		}
		f.Close() // another removed or renamed the folder while this one waited
	}
}

// waitFlock locks a file. A process that has it may keep it for long: its end is
// looked for ever more seldom.
func waitFlock(ctx context.Context, f *os.File, noWait bool) error {
	const first, longest = time.Millisecond, 100 * time.Millisecond
	for pause := first; ; pause = min(pause*2, longest) {
		switch err := flock(f); {
		case err == nil:
			return nil
		case !errors.Is(err, errLocked):
			return fmt.Errorf("locking %q: %w", f.Name(), err)
		case noWait:
			return fmt.Errorf("another process works with it: %w", domarkx.ErrConflict)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the process that works with it: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

var errLocked = errors.New("locked by another")

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
