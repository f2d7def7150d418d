package lock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/turns/lock"
)

// TestTurn: only one turn of a session runs at a time, and the error names who runs it. Other sessions have turns of their own.
func TestTurn(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lock.Turn(t.Context(), dir, "s", "chat")
	if err != nil {
		t.Fatal(err)
	}
	_, err = lock.Turn(t.Context(), dir, "s", "run")
	var busy *lock.BusyError
	if !errors.As(err, &busy) || *busy != (lock.BusyError{Session: "s", Command: "chat", Process: os.Getpid()}) {
		t.Errorf("a second turn: %v", err)
	} else if !strings.Contains(err.Error(), "git domarkx chat") {
		t.Errorf("%v", err)
	}
	other, err := lock.Turn(t.Context(), dir, "s/t", "run")
	if err != nil {
		t.Fatal(err)
	}
	other()
	unlock()
	if unlock, err = lock.Turn(t.Context(), dir, "s", "run"); err != nil {
		t.Fatalf("after the turn: %v", err)
	}
	unlock()
}

// TestOwnerIsGone: the lock names a process that no longer runs, but another one has it and has not written its name yet. The turn
// begins when that one ends, and waits no longer than its context.
func TestOwnerIsGone(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lock.Turn(t.Context(), dir, "s", "chat")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "turns", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("chat 999999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := lock.Turn(short, dir, "s", "run"); err == nil {
		t.Error("two turns at a time")
	}
	time.AfterFunc(100*time.Millisecond, unlock)
	next, err := lock.Turn(t.Context(), dir, "s", "run")
	if err != nil {
		t.Fatal(err)
	}
	next()
}

// TestOddOwners: whatever the file holds, a lock that is free can be taken.
func TestOddOwners(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "chat", "chat x\n", "\x00\xff", strings.Repeat("9", 1000)} {
		unlock, err := lock.Turn(t.Context(), dir, "s", "chat")
		if err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "turns", "*"))
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var busy *lock.BusyError
		if _, err := lock.Turn(t.Context(), dir, "s", "run"); !errors.As(err, &busy) || busy.Process != 0 {
			t.Errorf("owner %q: %v", text, err)
		}
		unlock()
	}
}
