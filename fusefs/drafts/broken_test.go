package drafts_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// TestBroken checks that the newest text of each session is listed, whichever process stored it.
func TestBroken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "drafts")
	if got, err := drafts.ListBroken(dir); len(got) > 0 || err != nil {
		t.Errorf("no directory: %v, %v", got, err)
	}
	want := drafts.Draft{Name: "a", Base: "b1", After: "is/1", State: drafts.Broken, Problem: "a.md:1:1: bad", Data: []byte("0")}
	for n := range 12 { // the names of journals are random
		want.Data = fmt.Append(nil, n)
		given := want
		given.State, given.Over = drafts.Saved, "ignored/1"
		if err := drafts.PutBroken(dir, given); err != nil {
			t.Fatal(err)
		}
		got, err := drafts.ListBroken(dir)
		if diff := cmp.Diff([]drafts.Draft{want}, got, withoutKeys); diff != "" || err != nil {
			t.Fatalf("after text %d: %v %s", n, err, diff)
		}
	}
	j := open(t, dir)
	defer j.Close()
	for _, d := range []drafts.Draft{{Name: "c", State: drafts.Broken}, {Name: "saved", State: drafts.Saved}, {Name: "/x/y.png", State: drafts.Beside}, {Name: "/b.txt", State: drafts.Beside}} {
		put(t, j, d)
	}
	got, err := drafts.ListBroken(dir)
	if err != nil || len(got) != 2 {
		t.Errorf("of two sessions: %v, %v", got, err)
	}
	if beside, err := drafts.ListBeside(dir); err != nil || !slices.Equal(beside, []string{"b.txt", "x/y.png"}) {
		t.Errorf("beside sessions: %q, %v", beside, err)
	}
}

// TestDamagedDrafts checks that a damaged draft hides no other, and that nothing removes it.
func TestDamagedDrafts(t *testing.T) {
	good, err := drafts.Encode(drafts.Draft{Name: "s", State: drafts.Broken, Data: []byte("text")})
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	for name, c := range map[string]struct {
		file string
		want error
	}{
		"an empty file":     {"", domarkx.ErrCorrupt},
		"a torn first line": {text[:10], domarkx.ErrCorrupt},
		"no header":         {text[:strings.Index(text, "{")], domarkx.ErrCorrupt},
		"a torn header":     {text[:strings.Index(text, "}")], domarkx.ErrCorrupt},
		"a header of junk":  {strings.Replace(text, "{", "[", 1), domarkx.ErrCorrupt},
		"torn data":         {text[:len(text)-1], domarkx.ErrCorrupt},
		"more data":         {text + "x", domarkx.ErrCorrupt},
		"changed data":      {strings.Replace(text, "text", "tent", 1), domarkx.ErrCorrupt},
		"a later version":   {strings.Replace(text, "draft 1", "draft 2", 1), domarkx.ErrUnsupported},
		"a later state":     {strings.Replace(text, `"broken"`, `"later"`, 1), domarkx.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j := open(t, dir)
			key := put(t, j, drafts.Draft{Name: "fine", State: drafts.Broken, Data: []byte("x")})
			put(t, j, drafts.Draft{Name: "/f", State: drafts.Beside})
			bad := filepath.Join(dir, filepath.Dir(key), "000000000007.draft")
			if err := errors.Join(os.WriteFile(bad, []byte(c.file), 0o600), j.Close()); err != nil {
				t.Fatal(err)
			}
			_, listed := drafts.List(dir)
			broken, brokenErr := drafts.ListBroken(dir)
			beside, besideErr := drafts.ListBeside(dir)
			if len(broken) != 1 || len(beside) != 1 {
				t.Errorf("%d texts, %d files", len(broken), len(beside))
			}
			rewritten := drafts.Rewrite(dir, func(d drafts.Draft) (drafts.Draft, bool) { return d, true })
			if _, err := drafts.Discard(dir, key); err != nil {
				t.Errorf("Discard: %v", err)
			}
			for what, err := range map[string]error{"List": listed, "ListBroken": brokenErr, "ListBeside": besideErr, "Rewrite": rewritten} {
				if !drafts.IsDamage(err) || !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), bad) {
					t.Errorf("%s: %v, expected %v", what, err, c.want)
				}
			}
			if _, err := drafts.ListWaiting(dir); err != nil {
				t.Errorf("ListWaiting: %v", err)
			}
			left, err := drafts.List(dir)
			if !errors.Is(err, c.want) || len(left) != 1 || left[0].Name != "/f" {
				t.Errorf("after all that: %v, %v", left, err)
			}
		})
	}
}

// TestOddDirectories checks what List and Adopt make of files that no journal wrote.
func TestOddDirectories(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	defer j.Close()
	file, err := drafts.Encode(drafts.Draft{Name: "s", State: drafts.Saved})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dead/x.draft", "dead/note.txt", "dead/.domarkx-tmp", "file", "empty/.keep"} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, file, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "dead/directory.draft"), 0o700), os.Symlink("x.draft", filepath.Join(dir, "dead/link.draft")),
		os.WriteFile(filepath.Join(dir, "dead/lock"), []byte("not a number\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	want := []drafts.Draft{{Key: "dead/x", Name: "s", State: drafts.Saved}}
	if diff := cmp.Diff(want, list(t, dir), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	adopted, err := j.Adopt()
	if diff := cmp.Diff(want, adopted, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("adopted: %v %s", err, diff)
	}
	if key := put(t, j, drafts.Draft{Name: "t", State: drafts.Saved}); !strings.HasSuffix(key, "/000000000001") {
		t.Errorf("after a draft without a number the key is %q", key)
	}
	for what, at := range map[string]string{"a file for the directory": filepath.Join(dir, "file"), "a directory in a file": filepath.Join(dir, "file/x")} {
		if _, err := drafts.Open(at); err == nil {
			t.Errorf("%s: a journal was opened", what)
		}
		if err := drafts.PutBroken(at, drafts.Draft{Name: "s"}); err == nil {
			t.Errorf("%s: a text was stored", what)
		}
		if _, err := drafts.List(at); err == nil {
			t.Errorf("%s: listed", what)
		}
		if _, err := drafts.ListWaiting(at); err == nil {
			t.Errorf("%s: waiting drafts were listed", what)
		}
	}
}

// TestLostJournal checks that a journal whose directory somebody removed reports it and closes.
func TestLostJournal(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	key := put(t, j, drafts.Draft{Name: "s", State: drafts.Saved})
	if err := os.RemoveAll(filepath.Join(dir, filepath.Dir(key))); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Put(drafts.Draft{Name: "s", State: drafts.Saved}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), `storing a save of "s"`) {
		t.Errorf("storing: %v", err)
	}
	if err := errors.Join(j.Delete(key), j.Close()); err != nil {
		t.Error(err)
	}
}
