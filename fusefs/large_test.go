//go:build linux

package fusefs_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/internal/storetest"
)

// TestLargeFilesShow reads large files with several readers, which share their blocks.
func TestLargeFilesShow(t *testing.T) {
	m := mounted(t)
	content := make([]byte, 21<<20+123)
	rand.NewChaCha8([32]byte{1}).Read(content)
	m.version("w", map[string]storetest.Tree{"fs": {"large": {Content: string(content)}}})
	name := m.path("workspaces/w/latest/fs/large")
	reads := 20
	if testing.Short() {
		reads = 5
	}
	var readers sync.WaitGroup
	for i := range 6 {
		readers.Go(func() {
			f, err := os.Open(name)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if i == 0 {
				if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, content) {
					t.Errorf("from end to end: %d bytes, %v", len(got), err)
				}
				return
			}
			r := rand.New(rand.NewPCG(uint64(i), 2))
			p := make([]byte, 3<<20)
			for range reads {
				at, n := r.IntN(len(content)), 1+r.IntN(len(p))
				want := content[at:min(at+n, len(content))]
				if got, err := f.ReadAt(p[:n], int64(at)); !bytes.Equal(p[:got], want) || err != nil && err != io.EOF {
					t.Errorf("%d bytes at %d: %d, %v", n, at, got, err)
				}
				// Drop the pages, so that the next reader asks the server.
				if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
}

// TestVersionsAreReadAhead checks that the kernel reads further ahead in mounts of root.
func TestVersionsAreReadAhead(t *testing.T) {
	m := mounted(t)
	devices := m.inner()
	if len(devices) != 1 {
		t.Fatalf("mounted are %q", devices)
	}
	name := filepath.Join("/sys/class/bdi", devices[0], "read_ahead_kb")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	want := "128\n"
	if info.Mode()&0o200 != 0 && unix.Access(name, unix.W_OK) == nil {
		want = "512\n"
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
