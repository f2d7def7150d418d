package compare_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

// at parses a revision.
func at(t *testing.T, revision string) engine.Revision {
	t.Helper()
	r, err := engine.ParseRevision(revision)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRevisions compares snapshots of a session.
func TestRevisions(t *testing.T) {
	c := enginetest.New(t)
	c.Appended("s", "one")
	c.Appended("s", "two")
	c.Saved("s", c.Tip("s").ID, "## user\n\nONE\n\n## user\n\ntwo\n")
	got, err := compare.Revisions(t.Context(), c.SessionManager, at(t, "s~1"), at(t, "s"), "old", "new")
	if err != nil || !strings.Contains(string(got), "--- old\n+++ new\n") || !strings.Contains(string(got), "-one\n+ONE\n") || strings.Contains(string(got), "-two") {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := compare.Revisions(t.Context(), c.SessionManager, at(t, "s#1"), at(t, "s~1#1"), "a", "b"); err != nil || len(got) != 0 {
		t.Errorf("the same message: %s, %v", got, err)
	}
	for _, pair := range [][2]string{{"s", "none"}, {"none", "s"}, {"s~9", "s"}} {
		if got, err := compare.Revisions(t.Context(), c.SessionManager, at(t, pair[0]), at(t, pair[1]), "a", "b"); !errors.Is(err, domarkx.ErrNotFound) || got != nil {
			t.Errorf("%q: %s, %v", pair, got, err)
		}
	}
	for revision, want := range map[string]string{"s": "-one\n+ONE\n", "s~1": "+two\n", "s~2": "+one\n"} {
		info, err := c.Resolve(t.Context(), at(t, revision))
		if err != nil {
			t.Fatal(err)
		}
		info.Name = "s"
		if got, err := compare.Change(t.Context(), c.SessionManager, info); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("the change of %s: %s, %v; want %q", revision, got, err, want)
		}
	}
}
