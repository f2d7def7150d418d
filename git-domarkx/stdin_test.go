package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestStdinEndsWithTheCommand checks that a command which waits for its input can be cancelled, and gets all of it otherwise.
func TestStdinEndsWithTheCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	text := strings.Repeat("x", 100_000)
	if got, err := io.ReadAll(stdin{&invocation{ctx: ctx, in: strings.NewReader(text)}}); err != nil || string(got) != text {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	in, w := io.Pipe()
	defer w.Close()
	cancel()
	if _, err := io.ReadAll(stdin{&invocation{ctx: ctx, in: in}}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
