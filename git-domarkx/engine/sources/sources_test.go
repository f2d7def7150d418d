package sources_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

func open(_ *testing.T, dir string) *sources.Record {
	return sources.Open(dir)
}

func save(t *testing.T, r *sources.Record) {
	t.Helper()
	if err := r.Save(); err != nil {
		t.Fatal(err)
	}
}

// files returns the files of the record, except the index of sessions.
func files(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "sources", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// stat returns the only file of the record.
func stat(t *testing.T, dir string) os.FileInfo {
	t.Helper()
	found := files(t, dir)
	if len(found) != 1 {
		t.Fatalf("the record has the files %q, expected one", found)
	}
	info, err := os.Stat(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	save(t, r)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("an empty record was written: %v, %v", left, err)
	}
	first := sources.Source{Session: "a", Snapshot: "1", Digest: "d1", Growth: &sources.Growth{Format: "codex", Size: 10, Read: 8, State: "s"}}
	r.Set("/a.md", first, sources.Source{})
	save(t, r)

	r = open(t, dir)
	got := r.Get("/a.md")
	if got.Session != "a" || got.Snapshot != "1" || got.Before != nil || *got.Growth != *first.Growth {
		t.Fatalf("%+v", got)
	}
	second := sources.Source{Session: "a", Snapshot: "2", Digest: "d2", Saved: 7, Beside: map[string]sources.File{"x.png": {Size: 1}}}
	r.Set("/a.md", second, got)
	third := sources.Source{Session: "a", Snapshot: "3", Digest: "d3"}
	r.Set("/a.md", third, r.Get("/a.md"))
	save(t, r)
	got = open(t, dir).Get("/a.md")
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
	r.Set("/a", now, r.Get("/a"))
	save(t, r)
	if !os.SameFile(before, stat(t, dir)) {
		t.Error("the file was written again")
	}
	now.Stamp, now.Format = "s2", "codex"
	r.Set("/a", now, r.Get("/a"))
	save(t, r)
	if got := open(t, dir).Get("/a"); got.Stamp != "s2" || got.Format != "codex" || got.Before != nil {
		t.Errorf("a new stamp became %+v", got)
	}
}

func TestDamagedRecord(t *testing.T) {
	for _, content := range []string{"", "{", "[]", "\x00\x00", `{"/a": 1}`} {
		dir := t.TempDir()
		r := open(t, dir)
		r.Set("/a", sources.Source{Session: "b"}, sources.Source{})
		save(t, r)
		write(t, files(t, dir)[0], content)
		r = open(t, dir)
		if got := r.Get("/a"); got.Session != "" {
			t.Errorf("%q is read as %v", content, got)
		}
		r.Set("/a", sources.Source{Session: "a"}, sources.Source{})
		save(t, r)
		if got := open(t, dir).Get("/a").Session; got != "a" {
			t.Errorf("after %q, the new record has %q", content, got)
		}
	}
}

// TestUnreadableRecord checks that a record which cannot be read is not taken for an empty one.
func TestUnreadableRecord(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.Set("/a", sources.Source{Session: "a"}, sources.Source{})
	save(t, r)
	block(t, files(t, dir)[0])
	r = open(t, dir)
	r.Set("/a", sources.Source{Session: "b"}, r.Get("/a"))
	if err := r.Save(); err == nil || !strings.Contains(err.Error(), "record of imports") {
		t.Errorf("saved a record that could not be read: %v", err)
	}
	if _, err := open(t, dir).OfSession("a"); err == nil {
		t.Error("the session has no documents")
	}
}

// block replaces a file by a directory, so that it can be neither read nor written.
func block(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestOthersAreNotRead checks that the record of one document costs the same however many others
// there are: their files are neither read nor written.
func TestOthersAreNotRead(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.Set("/a", sources.Source{Session: "a", Snapshot: "1"}, sources.Source{})
	save(t, r)
	mine := files(t, dir)[0]
	for i := range 50 {
		r.Set(fmt.Sprintf("/other%d", i), sources.Source{Session: fmt.Sprintf("other%d", i)}, sources.Source{})
	}
	save(t, r)
	all := files(t, dir)
	if len(all) != 51 {
		t.Fatalf("%d files", len(all))
	}
	for _, f := range all {
		if f != mine {
			block(t, f)
		}
	}
	r = open(t, dir)
	r.Set("/a", sources.Source{Session: "a", Snapshot: "2"}, r.Get("/a"))
	save(t, r)
	if err := sources.Moved(dir, "a", "2", "3"); err != nil {
		t.Fatal(err)
	}
	if err := sources.Rename(dir, "a", "b"); err != nil {
		t.Fatal(err)
	}
	of, err := open(t, dir).OfSession("b")
	if err != nil || len(of) != 1 || of["/a"].Snapshot != "3" {
		t.Errorf("of the session: %v, %v", of, err)
	}
}

// TestKilledSave checks that the next save goes on after a killed one.
func TestKilledSave(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.Set("/a", sources.Source{Session: "a", Snapshot: "1"}, sources.Source{})
	save(t, r)
	name := filepath.Base(files(t, dir)[0])
	write(t, filepath.Join(dir, "sources", "new", name), `{"/a":{"session":"wrong and longer than the next`)
	index := filepath.Join(dir, "sources", "sessions")
	content, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	write(t, index, string(content)+"0123456789abcdef") // a part of a line
	r = open(t, dir)
	if got := r.Get("/a").Snapshot; got != "1" {
		t.Errorf("after a kill, the snapshot is %q", got)
	}
	r.Set("/a", sources.Source{Session: "b", Snapshot: "2"}, r.Get("/a"))
	save(t, r)
	if of, err := open(t, dir).OfSession("b"); err != nil || of["/a"].Snapshot != "2" {
		t.Errorf("of the session: %v, %v", of, err)
	}
	if of, err := open(t, dir).OfSession("a"); err != nil || len(of) > 0 {
		t.Errorf("of the former session: %v, %v", of, err)
	}
}

// TestLostIndex checks that the index of sessions is made again.
func TestLostIndex(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.Set("/a", sources.Source{Session: "a", Snapshot: "1"}, sources.Source{})
	r.Set("/b", sources.Source{Session: "b", Snapshot: "1"}, sources.Source{})
	save(t, r)
	if err := os.Remove(filepath.Join(dir, "sources", "sessions")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // without an index, and with one that was begun without b
		if of, err := open(t, dir).OfSession("b"); err != nil || len(of) != 1 {
			t.Fatalf("of the session: %v, %v", of, err)
		}
		r = open(t, dir)
		r.Set("/a", sources.Source{Session: "a", Snapshot: "2"}, r.Get("/a"))
		save(t, r)
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
	a, b := r.Get("/a"), r.Get("/b")
	if a.Session != "new" || a.Snapshot != "2" || a.Before == nil || a.Before.Snapshot != "1" {
		t.Errorf("%+v with the previous %+v", a, a.Before)
	}
	if b.Session != "older" || b.Snapshot != "1" || b.Before != nil {
		t.Errorf("the record of another session became %+v", b)
	}
	err := r.Forget(func(s *sources.Source) bool {
		changed := s.Session == "new"
		if changed {
			s.Digest = ""
			s.Snapshot = "4"
		}
		return changed
	})
	if err != nil {
		t.Fatal(err)
	}
	save(t, r)
	if got := open(t, dir); got.Get("/a").Snapshot != "4" || got.Get("/b").Snapshot != "1" {
		t.Errorf("after Forget: %+v, %+v", got.Get("/a"), got.Get("/b"))
	}
}

func TestDocumentKey(t *testing.T) {
	document := `codex:["id","",""]`
	for key, want := range map[string]string{
		document: document, document + "\nmine": document, document + "\ndir/mine": document, "": "",
		document + "\n.fork": document + "\n.fork", document + "\n.fork\nmine": document + "\n.fork\nmine",
	} {
		if got := sources.DocumentKey(key); got != want {
			t.Errorf("%q: %q", key, got)
		}
	}
}

// TestForgetUnfinished checks that nothing remains of the unfinished files of a killed save.
func TestForgetUnfinished(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.Set("/a", sources.Source{Session: "s", Snapshot: "1", Digest: "d"}, sources.Source{})
	save(t, r)
	unfinished := filepath.Join(dir, "sources", "new", "left.json")
	if err := os.WriteFile(unfinished, []byte(`{"/a": {"session": "s", "growth": {"state": "a secret"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r = open(t, dir)
	if err := r.Forget(func(*sources.Source) bool { return true }); err != nil {
		t.Fatal(err)
	}
	save(t, r)
	if _, err := os.Lstat(unfinished); !os.IsNotExist(err) {
		t.Errorf("the unfinished file: %v", err)
	}
	if got := open(t, dir).Get("/a"); got.Snapshot != "1" {
		t.Errorf("the record became %+v", got)
	}
}
