//go:build unix

package directory_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/directory"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func TestWhereADirectoryMayBe(t *testing.T) {
	top := t.TempDir()
	elsewhere := t.TempDir()
	for _, dir := range []string{".git/hooks", "data/deep", "mnt/sessions"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(elsewhere, filepath.Join(top, "out")), os.Symlink(".git", filepath.Join(top, "git")),
		os.Symlink("data", filepath.Join(top, "in"))); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{
		"data": true, "data/deep": true, "new/directory": true, "in": true,
		".": true, "..": false, "../x": false, elsewhere: false, ".git": false, ".git/hooks": false, ".git/new": false, "git": false, "git/new": false,
		"out": false, "out/new": false, "mnt": true, "mnt/sessions": false, "mnt/sessions/x": false, "data/../.git": false,
	} {
		env := domarkx.Env{
			Dir: t.TempDir(), WorkTree: top, Forbidden: []string{filepath.Join(top, "mnt/sessions")},
			Config: jsonvalue.ObjectValue().With("path", jsonvalue.StringValue(path)),
		}
		f, err := directory.Open(env)
		if (err == nil) != ok {
			t.Errorf("path %q: %v", path, err)
		}
		if err == nil {
			f.Close(t.Context())
		}
		env.WorkTree = ""
		if _, err := directory.Open(env); err == nil {
			t.Errorf("path %q in a bare repository: no error", path)
		}
	}
	for _, path := range []string{".git/new", "mnt/sessions/x"} {
		if _, err := os.Lstat(filepath.Join(top, path)); err == nil {
			t.Errorf("%q was made", path)
		}
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Error("something was made outside")
	}
}

// TestLinkInPlaceOfTheDirectory replaces the directory by a link to files outside of the resource.
func TestLinkInPlaceOfTheDirectory(t *testing.T) {
	env := domarkx.Env{Dir: t.TempDir(), Config: jsonvalue.ObjectValue()}
	f, err := directory.Open(env)
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	mine := filepath.Join(outside, "mine")
	if err := errors.Join(os.WriteFile(mine, nil, 0o600), os.Remove(f.Path()), os.Symlink(outside, f.Path())); err != nil {
		t.Fatal(err)
	}
	if _, err := directory.Open(env); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("opened: %v", err)
	}
	if err := f.TearDown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(f.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link is there: %v", err)
	}
	if _, err := os.Lstat(mine); err != nil {
		t.Error(err)
	}
}

// TestTearDown checks that only a private directory is removed, whatever modes its directories have.
func TestTearDown(t *testing.T) {
	for _, private := range []bool{true, false} {
		tree := t.TempDir()
		env := domarkx.Env{Dir: t.TempDir(), WorkTree: tree, Private: private, Config: jsonvalue.ObjectValue().With("path", jsonvalue.StringValue("mine"))}
		r, err := directory.Open(env)
		if err != nil {
			t.Fatal(err)
		}
		want := filepath.Join(tree, "mine")
		if private {
			want = filepath.Join(env.Dir, "files")
		}
		if r.Path() != want || r.IsPrivate() != private || (len(r.Hidden()) > 0) == private {
			t.Errorf("private %v: %q, %v, hidden %q", private, r.Path(), r.IsPrivate(), r.Hidden())
		}
		locked := filepath.Join(r.Path(), "locked")
		if err := errors.Join(os.Mkdir(locked, 0o755), os.WriteFile(filepath.Join(locked, "f"), nil, 0o400), os.Chmod(locked, 0o500)); err != nil {
			t.Fatal(err)
		}
		if err := r.TearDown(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.Path()); errors.Is(err, fs.ErrNotExist) != private {
			t.Errorf("private %v: afterwards %v", private, err)
		}
		left, err := os.ReadDir(env.Dir)
		if len(left) > 0 || err != nil {
			t.Errorf("private %v: %v is left, %v", private, left, err)
		}
		_ = os.Chmod(filepath.Join(tree, "mine/locked"), 0o700)
	}
}

func TestPlacesThatAreNotDirectories(t *testing.T) {
	tree := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(tree, "file"), nil, 0o600), os.Symlink("loop", filepath.Join(tree, "loop")),
		os.Symlink("gone", filepath.Join(tree, "dangling"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"file", "file/below", "loop", "dangling"} {
		env := domarkx.Env{Dir: t.TempDir(), WorkTree: tree, Config: jsonvalue.ObjectValue().With("path", jsonvalue.StringValue(path))}
		if r, err := directory.Open(env); err == nil {
			r.Close(t.Context())
			t.Errorf("%s was opened", path)
		}
	}
	gone := domarkx.Env{Dir: t.TempDir(), WorkTree: filepath.Join(tree, "no"), Config: jsonvalue.ObjectValue().With("path", jsonvalue.StringValue("x"))}
	if _, err := directory.Open(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing work tree: %v", err)
	}
	blocked := domarkx.Env{Dir: t.TempDir(), Config: jsonvalue.ObjectValue()}
	if err := os.WriteFile(filepath.Join(blocked.Dir, "files"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := directory.Open(blocked); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a file in place of the private directory: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(blocked.Dir, "files")); string(data) != "mine" || err != nil {
		t.Errorf("the file is now %q, %v", data, err)
	}
}

// TestVersionsOfAResource checks that versions lack what the config excludes, and that loading one keeps that.
func TestVersionsOfAResource(t *testing.T) {
	env := domarkx.Env{Dir: t.TempDir(), Config: jsonvalue.ObjectValue().With("exclude", jsonvalue.ArrayValue(jsonvalue.StringValue("*.log"), jsonvalue.StringValue("/cache/")))}
	r, err := directory.Open(env)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(r.Path(), name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := plugintest.NewMemory()
	commit := func() string {
		t.Helper()
		w, err := m.Begin(t.Context(), "")
		if err == nil {
			err = r.Commit(t.Context(), w)
		}
		if err != nil {
			t.Fatal(err)
		}
		version, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	if err := os.Mkdir(filepath.Join(r.Path(), "cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	put("a", "first")
	put("x.log", "log")
	put("cache/f", "cached")
	first := commit()
	put("a", "second")
	put("b", "new")
	if changed, err := r.Changed(t.Context()); !changed || err != nil {
		t.Errorf("changed %v, %v", changed, err)
	}
	second := commit()
	for version, want := range map[string]map[string]string{first: {"a": "first"}, second: {"a": "second", "b": "new"}} {
		if got := databasetest.Files(t, m, version); !maps.Equal(got, want) {
			t.Errorf("a version has %v, expected %v", got, want)
		}
	}
	if err := errors.Join(r.CheckLoad(t.Context(), m, second, first), r.Load(t.Context(), m, first)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "first", "b": "", "x.log": "log", "cache/f": "cached"} {
		if got, _ := os.ReadFile(filepath.Join(r.Path(), name)); string(got) != want {
			t.Errorf("%s is %q after the load, expected %q", name, got, want)
		}
	}
	begun := false
	changed, err := r.CommitIncrement(t.Context(), func() (domarkx.VersionWriter, error) { begun = true; return m.Begin(t.Context(), first) })
	if changed || begun || err != nil {
		t.Errorf("a commit without a change: %v, begun %v, %v", changed, begun, err)
	}
	_, err = r.Execute(t.Context(), domarkx.Call{Tool: "run"})
	fails(t, "an unknown tool", err, domarkx.CodeUnknownTool, `no tool "run"`)
}
