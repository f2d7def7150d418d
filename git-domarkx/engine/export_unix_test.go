//go:build unix

package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestWriteToPipe writes a document to a pipe, which is not replaced.
func TestWriteToPipe(t *testing.T) {
	c := newClone(t)
	c.Appended("s", "Hello.")
	attached(c, "a.txt", "one")
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		data, err := os.ReadFile(path)
		read <- fmt.Sprint(string(data), err)
	}()
	err := written(c, path)
	if got, want := <-read, c.Shown("s")+"<nil>"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe was replaced: %v, %v", info, err)
	}
}
