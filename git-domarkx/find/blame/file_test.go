package blame_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

func TestPath(t *testing.T) {
	d := newDesk(t)
	d.WriteFile("cmd/main.go", "")
	elsewhere := t.TempDir()
	for link, target := range map[string]string{"inside": "cmd", "outside": elsewhere} {
		if err := os.Symlink(target, d.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	again := filepath.Join(elsewhere, "again")
	if err := os.Symlink(d.Dir, again); err != nil {
		t.Fatal(err)
	}
	t.Chdir(d.path("cmd"))
	for path, want := range map[string]string{
		"main.go":                        "cmd/main.go",
		"./main.go":                      "cmd/main.go",
		"../cmd/main.go":                 "cmd/main.go",
		"missing":                        "cmd/missing",
		"missing/too":                    "cmd/missing/too",
		d.path("cmd", "main.go"):         "cmd/main.go",
		d.path("inside", "main.go"):      "cmd/main.go", // a link to a directory of the work tree
		filepath.Join(again, "cmd", "x"): "cmd/x",       // a link to the work tree
		d.path("inside"):                 "inside",      // the file itself is not followed
		"..":                             "",
		"../..":                          "",
		"/etc/passwd":                    "",
		d.path("outside", "x"):           "", // a link that leaves the work tree
		elsewhere:                        "",
	} {
		got, err := d.m.Path(path)
		if got != want || (want == "") != errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("Path(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
}

func TestPathWithoutWorkTree(t *testing.T) {
	d := newDesk(t)
	bare := filepath.Join(t.TempDir(), "bare")
	d.git("init", "-q", "--bare", bare)
	git, err := gitcmd.Discover(t.Context(), bare, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blame.New(d.Store, git, d.Settings).Path(filepath.Join(bare, "x")); !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), "no work tree") {
		t.Error(err)
	}
}

func TestFileRefuses(t *testing.T) {
	d := newDesk(t)
	for name, content := range map[string]string{
		"text": "a\nb\nc", "empty": "", "binary": "a\x00b", "huge": strings.Repeat("x", blame.MaxSize+1), "dir/file": "", "secret": "a\n",
		"late": strings.Repeat("x", 8000) + "\x00", "limit": strings.Repeat("x", blame.MaxSize),
	} {
		d.WriteFile(name, content)
	}
	outside := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(outside, []byte("a\n"), 0o600), os.Symlink(outside, d.path("link")), os.Symlink(filepath.Dir(outside), d.path("up"))); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path        string
		first, last int
		want        string // part of the error; "" if there is none
		n           int    // number of lines
	}{
		{path: "text", n: 3},
		{path: "text", first: 2, n: 2},
		{path: "text", last: 2, n: 2},
		{path: "text", first: 3, last: 3, n: 1},
		{path: "text", first: 4, want: "it has 3 lines"},
		{path: "text", last: 4, want: "it has 3 lines"},
		{path: "text", first: 3, last: 2, want: "it has 3 lines"},
		{path: "text", first: -1, n: 3},
		{path: "empty"},
		{path: "empty", first: 1},
		{path: "empty", first: 2, want: "it has 0 lines"},
		{path: "empty", last: 1, want: "it has 0 lines"},
		{path: "late", n: 1}, // like Git, only the first 8,000 bytes decide
		{path: "limit", n: 1},
		{path: "binary", want: "binary file"},
		{path: "huge", want: "more than 16 MiB"},
		{path: "dir", want: "not a regular file"},
		{path: "link", want: "not a regular file"},
		{path: "up/file", want: "escapes"},
		{path: "dir/file/x", want: "not a directory"},
		{path: "none", want: "not found in the work tree"},
	}
	for _, tt := range tests {
		got, err := d.m.File(t.Context(), tt.path, tt.first, tt.last)
		if tt.want == "" && (err != nil || len(got) != tt.n) {
			t.Errorf("%s %d,%d: %d lines, %v", tt.path, tt.first, tt.last, len(got), err)
		}
		if tt.want != "" && (err == nil || got != nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s %d,%d: %d lines, %v; want %q", tt.path, tt.first, tt.last, len(got), err, tt.want)
		}
		if tt.n > 0 && len(got) > 0 && tt.first > 0 && got[0].Number != tt.first {
			t.Errorf("%s: the first line is %d, want %d", tt.path, got[0].Number, tt.first)
		}
	}
}

func TestFileIsCancelled(t *testing.T) {
	d := newDesk(t)
	d.call("s", "f", "a b")
	d.write("f", "a b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := d.m.File(ctx, "f", 0, 0); got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDamage removes each object in turn. The file is blamed on nobody who did not write it.
func TestDamage(t *testing.T) {
	d := newDesk(t)
	d.change("s", "f", "a")
	d.call("s", "f", "a b")
	d.call("s", "f", "a b c")
	d.write("f", "a b c x")
	want := []string{"", "=s#0", "=s#1", ""}
	if err := os.RemoveAll(d.path(".git", "hooks")); err != nil { // examples, which need not be copied
		t.Fatal(err)
	}
	failed := 0
	for _, file := range d.Unpack() {
		object, err := filepath.Rel(d.Dir, file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir() // a copy, because the store moves refs back to what is whole
		if err := errors.Join(os.CopyFS(dir, os.DirFS(d.Dir)), os.Remove(filepath.Join(dir, object))); err != nil {
			t.Fatal(err)
		}
		damaged := enginetest.Open(t, dir, d.Settings)
		found, err := blame.New(damaged.Store, damaged.Store.Git(), d.Settings).File(t.Context(), "f", 0, 0)
		if err != nil {
			failed++
		}
		for i, line := range found {
			if got := author(line.Origin); got != want[i] && got != "" && got != "=s#-1" {
				t.Errorf("without %s: line %d is%s, want%s", object, i+1, got, want[i])
			}
		}
	}
	if failed == 0 {
		t.Error("no missing object was noticed")
	}
}
