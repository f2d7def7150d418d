package atomicfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	if err := atomicfile.TryLock(first); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.TryLock(second); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := atomicfile.Lock(ended, second); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context ended: %v", err)
	}
	locked := make(chan error, 1)
	go func() { locked <- atomicfile.Lock(t.Context(), second) }()
	first.Close()
	if err := <-locked; err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
}
