package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, size := range []int{0, 10, spoolSize, spoolSize + 1, 3 * spoolSize} {
		text := strings.Repeat("x", size)
		inv := &invocation{ctx: context.Background(), in: strings.NewReader(text)}
		s, err := inv.spoolInput()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // it can be read twice
			got := make([]byte, s.Size())
			if _, err := s.ReadAt(got, 0); err != nil && err != io.EOF || string(got) != text {
				t.Errorf("%d bytes: read %d, %v", size, len(got), err)
			}
		}
		if want := size > spoolSize; (s.file != nil) != want {
			t.Errorf("%d bytes: in a temporary file: %t, want %t", size, s.file != nil, want)
		}
		if files, _ := os.ReadDir(os.Getenv("TMPDIR")); len(files) != 0 && !s.named {
			t.Errorf("%d bytes: %d temporary files that a kill would leave", size, len(files))
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if files, _ := os.ReadDir(os.Getenv("TMPDIR")); len(files) != 0 {
			t.Errorf("%d bytes: %d temporary files left", size, len(files))
		}
	}
}

func TestSpoolEndsWithTheCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in, w := io.Pipe()
	defer w.Close()
	cancel()
	inv := &invocation{ctx: ctx, in: in}
	if _, err := inv.spoolInput(); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
