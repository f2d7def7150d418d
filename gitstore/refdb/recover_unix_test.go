//go:build unix

package refdb_test

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestRecoverWaitsForOrphan checks that the journal of a running git remains, and that the next
// change waits until git ends.
func TestRecoverWaitsForOrphan(t *testing.T) {
	w := newWreck(t)
	file, err := os.OpenFile(w.journal(t, w.both()), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.refs.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lock beside an orphan: %v", err)
	}
	w.write(t, session("a"), w.ids[1]+"\n")
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	release, err := w.refs.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if got := w.at(t); got != "a=1 b=1" {
		t.Errorf("references: %s", got)
	}
}
