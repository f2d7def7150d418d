//go:build linux

package mcp_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/mcp"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func readAll(t testing.TB, r domarkx.Result) []byte {
	t.Helper()
	defer r.Attachment.Close()
	data, err := io.ReadAll(r.Attachment)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// files returns the files of a version with their contents.
func files(t *testing.T, store *plugintest.Memory, version string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := domarkx.WalkVersion(t.Context(), store, version, func(path string, f domarkx.File) error {
		if f.HardLink != "" {
			all[path] = "another name of " + f.HardLink
			return nil
		}
		if f.Type != domarkx.Regular {
			all[path] = f.Type.String()
			return nil
		}
		content, err := store.Content(t.Context(), f.ID)
		if err != nil {
			return err
		}
		defer content.Close()
		data, err := io.ReadAll(io.NewSectionReader(content, 0, content.Size()))
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func commit(t *testing.T, store *plugintest.Memory, r domarkx.Resource) string {
	t.Helper()
	w, err := store.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	version, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// TestVersion holds the tools and the directory, hard links included.
func TestVersion(t *testing.T) {
	store, dir := plugintest.NewMemory(), t.TempDir()
	r := open(t, mcp.New(), domarkx.Env{Dir: dir, Config: config(t, "one:The first.")})
	top := filepath.Join(dir, "files")
	for _, err := range []error{os.WriteFile(filepath.Join(top, "a"), []byte("x"), 0o644), os.Mkdir(filepath.Join(top, "d"), 0o755), os.Link(filepath.Join(top, "a"), filepath.Join(top, "d/b"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	version := commit(t, store, r)
	want := map[string]string{"": "directory", "files": "directory", "files/a": "x", "files/d": "directory", "files/d/b": "another name of files/a",
		"tools.json": "{\"tools\": [\n{\"name\":\"echo\",\"description\":\"The first.\",\"inputSchema\":{\"type\":\"object\"}}\n]}\n"}
	got := files(t, store, version)
	for path, content := range want {
		if got[path] != content {
			t.Errorf("%q is %q, expected %q", path, got[path], content)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}

	// Another server loads it, is not started by that, and then has other tools.
	elsewhere := t.TempDir()
	other := open(t, mcp.New(), domarkx.Env{Dir: elsewhere, Config: config(t, "two:The second.")})
	if err := other.Load(t.Context(), store, version); err != nil {
		t.Fatal(err)
	}
	if running := working(t, elsewhere); len(running) > 0 {
		t.Errorf("a load started %v", running)
	}
	if changed, err := other.Changed(t.Context()); changed || err != nil {
		t.Errorf("changed after a load: %v, %v", changed, err)
	}
	if again := commit(t, store, other); again != version {
		t.Errorf("it holds %s, expected %s", again, version)
	}
	if a, b := inode(t, filepath.Join(elsewhere, "files/a")), inode(t, filepath.Join(elsewhere, "files/d/b")); !os.SameFile(a, b) {
		t.Error("the hard link was lost")
	}
	tools(t, other)
	if changed, err := other.Changed(t.Context()); !changed || err != nil {
		t.Errorf("changed with other tools: %v, %v", changed, err)
	}
	if now := files(t, store, commit(t, store, other)); !strings.Contains(now["tools.json"], "The second.") || now["files/a"] != "x" {
		t.Errorf("%v", now)
	}
	if changed, err := other.Changed(t.Context()); changed || err != nil {
		t.Errorf("changed after a commit: %v, %v", changed, err)
	}
}

func inode(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestLoadEndsTheServer: the server must not go on with the files of another version.
func TestLoadEndsTheServer(t *testing.T) {
	store, dir := plugintest.NewMemory(), t.TempDir()
	r := open(t, mcp.New(), domarkx.Env{Dir: dir, Config: config(t, "")})
	execute(t, r, call("write", "path", "a", "content", "1"))
	version := commit(t, store, r)
	execute(t, r, call("write", "path", "a", "content", "2"))
	if err := r.Load(t.Context(), store, version); err != nil {
		t.Fatal(err)
	}
	if left := working(t, dir); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
	if got := execute(t, r, call("read", "path", "a")); got != "1" {
		t.Errorf("%q", got)
	}
}

// TestHostileVersions refuses versions that no resource commits.
func TestHostileVersions(t *testing.T) {
	const good = `{"tools": []}`
	for name, c := range map[string]struct {
		paths    []string // directories end with a slash
		hardLink string   // of the last one
		tools    string
		ok       bool
	}{
		"whole":                 {[]string{"tools.json", "files/", "files/a"}, "", good, true},
		"a file of the name":    {[]string{"tools.json", "files/", "files/tools.json"}, "", good, true},
		"no tools":              {[]string{"files/"}, "", good, false},
		"no files":              {[]string{"tools.json"}, "", good, false},
		"tools are a directory": {[]string{"tools.json/", "files/"}, "", good, false},
		"files are a file":      {[]string{"tools.json", "files"}, "", good, false},
		"more":                  {[]string{"tools.json", "files/", "x"}, "", good, false},
		"no JSON":               {[]string{"tools.json", "files/"}, "", "x", false},
		"another JSON":          {[]string{"tools.json", "files/"}, "", "[]", false},
		"too large":             {[]string{"tools.json", "files/"}, "", good + strings.Repeat(" ", 16<<20), false},
		"a name of tools.json":  {[]string{"tools.json", "files/", "files/a"}, "tools.json", good, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := plugintest.NewMemory()
			w, err := store.Begin(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			add(t, w, "", "", "")
			for i, path := range c.paths {
				link := ""
				if i == len(c.paths)-1 {
					link = c.hardLink
				}
				add(t, w, path, c.tools, link)
			}
			version, err := w.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			r := open(t, mcp.New(), domarkx.Env{Dir: dir, Config: config(t, "")})
			err = r.Load(t.Context(), store, version)
			if c.ok != (err == nil) || err != nil && !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("loading: %v", err)
			}
			if c.hardLink != "" { // only the directory's own check finds it
				return
			}
			if err := mcp.New().CheckVersion(t.Context(), store, version); c.ok != (err == nil) {
				t.Errorf("checking: %v", err)
			}
		})
	}
}

// add adds a file or, with a slash at the end, a directory.
func add(t *testing.T, w plugins.Pending, path, content, link string) {
	t.Helper()
	f := domarkx.File{Type: domarkx.Directory, Mode: 0o755, HardLink: link}
	if path != "" && !strings.HasSuffix(path, "/") {
		id, size, err := w.Content(t.Context(), strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		f.Type, f.Mode, f.ID, f.Size = domarkx.Regular, 0o644, id, size
	}
	if err := w.Add(t.Context(), strings.TrimSuffix(path, "/"), f); err != nil {
		t.Fatal(err)
	}
}
