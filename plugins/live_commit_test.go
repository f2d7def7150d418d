package plugins_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// TestCommitCall commits a state whose reading does not end by itself: the timeout of the call and
// the user end it, and the next call can mend it.
func TestCommitCall(t *testing.T) {
	w := newWorld(t)
	w.config.Grace, w.config.Timeout = 20*time.Millisecond, 50*time.Millisecond
	w.renew(w.store)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", "{}")}})
	set := func(text string) {
		t.Helper()
		if _, err := l.Call(t.Context(), plugintest.MayCall(l.Name(), "a", domarkx.Call{Tool: "set", Arguments: parse(t, `{"text": "`+text+`"}`)})); err != nil {
			t.Fatal(err)
		}
	}
	set("slow")
	if _, err := l.CommitCall(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the call: %v", err)
	}
	if _, err := l.CommitBeforeCall(t.Context(), 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before the next one: %v", err)
	}
	w.config.Timeout = time.Hour
	interrupted, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := l.CommitCall(interrupted); err == nil {
		t.Error("the user did not end it")
	}
	if _, err := l.CommitCall(interrupted); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after a call that the user ended: %v", err)
	}
	set("text")
	c, err := l.CommitCall(interrupted)
	if err != nil || !c.Changed {
		t.Fatal(c, err)
	}
	c.Abort()
}
