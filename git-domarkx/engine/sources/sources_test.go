package sources_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

func open(t *testing.T, dir string) *sources.Record {
	t.Helper()
	r, err := sources.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func save(t *testing.T, r *sources.Record) {
	t.Helper()
	if err := r.Save(); err != nil {
		t.Fatal(err)
	}
}

// stat returns the file of the record, nil if there is none.
func stat(t *testing.T, dir string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "sources.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return info
}

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	save(t, r)
	if stat(t, dir) != nil {
		t.Error("an empty record was written")
	}
	first := sources.Source{Session: "a", Snapshot: "1", Digest: "d1", Growth: &sources.Growth{Format: "codex", Size: 10, Read: 8, State: "s"}}
	r.Set("/a.md", first, sources.Source{})
	save(t, r)

	r = open(t, dir)
	got := r.ByPath["/a.md"]
	if got.Session != "a" || got.Snapshot != "1" || got.Before != nil || *got.Growth != *first.Growth {
		t.Fatalf("%+v", got)
	}
	second := sources.Source{Session: "a", Snapshot: "2", Digest: "d2", Saved: 7, Beside: map[string]sources.File{"x.png": {Size: 1}}}
	r.Set("/a.md", second, got)
	third := sources.Source{Session: "a", Snapshot: "3", Digest: "d3"}
	r.Set("/a.md", third, r.ByPath["/a.md"])
	save(t, r)
	got = open(t, dir).ByPath["/a.md"]
	if got.Snapshot != "3" || got.Before == nil || got.Before.Snapshot != "2" || got.Before.Before != nil {
		t.Errorf("%+v with the previous %+v, want one previous record", got, got.Before)
	}
}

// TestSameIsNotWritten sets recorded values again.
func TestSameIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	now := sources.Source{Session: "a", Snapshot: "1", Digest: "d", Stamp: "s1"}
	r.Set("/a", now, sources.Source{})
	save(t, r)
	before := stat(t, dir)
	r = open(t, dir)
	r.Set("/a", now, r.ByPath["/a"])
	save(t, r)
	if !os.SameFile(before, stat(t, dir)) {
		t.Error("the file was written again")
	}
	now.Stamp, now.Format = "s2", "codex"
	r.Set("/a", now, r.ByPath["/a"])
	save(t, r)
	if got := open(t, dir).ByPath["/a"]; got.Stamp != "s2" || got.Format != "codex" || got.Before != nil {
		t.Errorf("a new stamp became %+v", got)
	}
}

func TestDamagedRecord(t *testing.T) {
	for _, content := range []string{"", "{", "[]", "\x00\x00", `{"/a": 1}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "sources.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		r := open(t, dir)
		if len(r.ByPath) != 0 {
			t.Errorf("%q is read as %v", content, r.ByPath)
		}
		r.Set("/a", sources.Source{Session: "a"}, sources.Source{})
		save(t, r)
		if got := open(t, dir).ByPath["/a"].Session; got != "a" {
			t.Errorf("after %q, the new record has %q", content, got)
		}
	}
}

func TestBranches(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	for _, key := range []string{"codex 1", sources.BranchKey("codex 1", ".b2"), sources.BranchKey("codex 1", ".b1"), sources.BranchKey("codex 10", ".b3"), "-:notes"} {
		r.Set(key, sources.Source{Session: key}, sources.Source{})
	}
	save(t, r)
	for _, r := range []*sources.Record{r, open(t, dir)} {
		if got := r.Branches("codex 1"); !slices.Equal(got, []string{".b1", ".b2"}) {
			t.Errorf("branches %q", got)
		}
		if got := r.Branches("codex"); len(got) > 0 {
			t.Errorf("branches %q of an unknown document", got)
		}
		for key, want := range map[string]bool{"codex 1": true, "codex 10": true, "codex": false, "codex 2": false, "-:notes": true, "-:note": false} {
			if got := r.HasKey(key); got != want {
				t.Errorf("has %q: %v, want %v", key, got, want)
			}
		}
	}
}

func TestRenameAndMove(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.Set("/a", sources.Source{Session: "old", Snapshot: "1"}, sources.Source{})
	r.Set("/b", sources.Source{Session: "older", Snapshot: "1"}, sources.Source{})
	save(t, r)
	if err := sources.Rename(dir, "old", "new"); err != nil {
		t.Fatal(err)
	}
	if err := sources.Moved(dir, "new", "1", "2"); err != nil {
		t.Fatal(err)
	}
	if err := sources.Moved(dir, "new", "1", "3"); err != nil { // it has snapshot 2 now
		t.Fatal(err)
	}
	r = open(t, dir)
	a, b := r.ByPath["/a"], r.ByPath["/b"]
	if a.Session != "new" || a.Snapshot != "2" || a.Before == nil || a.Before.Snapshot != "1" {
		t.Errorf("%+v with the previous %+v", a, a.Before)
	}
	if b.Session != "older" || b.Snapshot != "1" || b.Before != nil {
		t.Errorf("the record of another session became %+v", b)
	}
	r.Forget(func(s *sources.Source) bool {
		changed := s.Session == "new"
		if changed {
			s.Digest = ""
			s.Snapshot = "4"
		}
		return changed
	})
	save(t, r)
	if got := open(t, dir); got.ByPath["/a"].Snapshot != "4" || got.ByPath["/b"].Snapshot != "1" {
		t.Errorf("after Forget: %+v", got.ByPath)
	}
}
