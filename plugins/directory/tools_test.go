//go:build unix

package directory_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/directory"
	"pgregory.net/rapid"
)

// openFiles opens a directory that contains files by path.
func openFiles(t *testing.T, files map[string]string) (*directory.Files, string) {
	t.Helper()
	top := t.TempDir()
	for name, content := range files {
		at := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := directory.OpenFiles(top, nil, filepath.Join(t.TempDir(), "note"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, top
}

// call calls a tool with texts by name.
func call(ctx context.Context, f *directory.Files, tool string, pairs ...string) (jsonvalue.Value, error) {
	v := jsonvalue.ObjectValue()
	for i := 0; i < len(pairs); i += 2 {
		v = v.With(pairs[i], jsonvalue.StringValue(pairs[i+1]))
	}
	r, _, err := f.Execute(ctx, domarkx.Call{Tool: tool, Arguments: v})
	if r.Attachment != nil {
		err = errors.Join(err, r.Attachment.Close())
	}
	return r.Value, err
}

// fails checks the code of an error, and that its message contains a text.
func fails(t *testing.T, what string, err error, code, text string) {
	t.Helper()
	var tool *domarkx.ToolError
	if !errors.As(err, &tool) || tool.Code != code || !strings.Contains(tool.Message, text) {
		t.Errorf("%s: %v, expected the code %q and %q", what, err, code, text)
	}
}

// TestSpecialFiles calls the tools with files that are neither regular nor directories. None may block.
func TestSpecialFiles(t *testing.T) {
	f, top := openFiles(t, map[string]string{"plain": "x"})
	at := func(name string) string { return filepath.Join(top, name) }
	if err := errors.Join(syscall.Mkfifo(at("fifo"), 0o600), os.Symlink("fifo", at("link")), os.Symlink("gone", at("dangling"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(top) // a socket's path is at most 107 bytes
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for name, kind := range map[string]string{"fifo": "fifo", "link": "fifo", "socket": "socket", ".": "directory"} {
		for tool, pairs := range map[string][]string{
			"read_file": nil, "write_file": {"content", "x"}, "edit_file": {"old_text", "a", "new_text", "b"}, "search": {"pattern", "x"},
		} {
			if name == "." && (tool == "search" || tool == "write_file") {
				continue
			}
			_, err := call(t.Context(), f, tool, append(pairs, "path", name)...)
			fails(t, tool+" "+name, err, domarkx.CodeInvalid, "a "+kind+", expected a file")
		}
	}
	_, err = call(t.Context(), f, "list_dir", "path", "fifo")
	fails(t, "list_dir", err, domarkx.CodeInvalid, "is a fifo, expected a directory")
	if got, err := call(t.Context(), f, "search", "pattern", "x"); err != nil || got.JSON() != `{"matches":[{"path":"plain","line":1,"text":"x"}]}` {
		t.Errorf("search: %s, %v", got.JSON(), err)
	}
	want := `{"entries":[{"name":"dangling","type":"symlink","target":"gone"},{"name":"fifo","type":"fifo"},{"name":"link","type":"symlink","target":"fifo"},` +
		`{"name":"plain","type":"file","size":1},{"name":"socket","type":"socket"}]}`
	if got, err := call(t.Context(), f, "list_dir", "path", "."); err != nil || got.JSON() != want {
		t.Errorf("list_dir: %s, %v", got.JSON(), err)
	}
	for _, name := range []string{"fifo", "socket", "dangling"} {
		if _, err := call(t.Context(), f, "move", "from", name, "to", "moved/"+name); err != nil {
			t.Errorf("move %s: %v", name, err)
		}
		if _, err := call(t.Context(), f, "delete", "path", "moved/"+name); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
	}
}

// TestNamesOfBytes lists and searches files whose names and contents are not UTF-8.
func TestNamesOfBytes(t *testing.T) {
	f, top := openFiles(t, map[string]string{"bad\xff": "caf\xe9\n", "ok": "fine\n"})
	if err := os.Symlink("to\xfe", filepath.Join(top, "z")); err != nil {
		t.Fatal(err)
	}
	want := `{"entries":[{"name_base64":"YmFk/w==","type":"file","size":5},{"name":"ok","type":"file","size":5},{"name":"z","type":"symlink","target_base64":"dG/+"}]}`
	if got, err := call(t.Context(), f, "list_dir", "path", "."); err != nil || got.JSON() != want {
		t.Errorf("list_dir: %s, %v", got.JSON(), err)
	}
	if got, err := call(t.Context(), f, "search", "pattern", "caf"); err != nil || got.JSON() != `{"matches":[{"path_base64":"YmFk/w==","line":1,"text":"caf�"}]}` {
		t.Errorf("search: %s, %v", got.JSON(), err)
	}
}

// TestLimits calls the tools with files over their limits, which take no space.
func TestLimits(t *testing.T) {
	f, top := openFiles(t, map[string]string{"read": "", "edited": ""})
	for name, size := range map[string]int64{"read": 1<<30 + 1, "edited": 64<<20 + 1} {
		if err := os.Truncate(filepath.Join(top, name), size); err != nil {
			t.Fatal(err)
		}
	}
	_, err := call(t.Context(), f, "read_file", "path", "read")
	fails(t, "reading", err, domarkx.CodeRefused, "has 1073741825 bytes, expected at most 1073741824")
	_, err = call(t.Context(), f, "edit_file", "path", "edited", "old_text", "a", "new_text", "b")
	fails(t, "editing", err, domarkx.CodeRefused, "has 67108865 bytes, expected at most 67108864")
	long := strings.Repeat("n", 256)
	for _, tool := range []string{"read_file", "write_file", "delete", "search", "list_dir"} {
		_, err = call(t.Context(), f, tool, "path", "sub/../"+long, "content", "x", "pattern", "x")
		fails(t, tool+" with a long name", err, domarkx.CodeInvalid, "name too long")
	}
}

func TestSearchLimits(t *testing.T) {
	f, _ := openFiles(t, map[string]string{
		"many":     strings.Repeat("hit\n", 1001),
		"thousand": strings.Repeat("hit\n", 1000),
		"long":     "begin" + strings.Repeat("é", 1000) + "end\r\nlast",
		"huge":     "a" + strings.Repeat("x", 17<<20) + "tail\nnext\n",
		"binary":   "hit\x00",
		"late":     strings.Repeat("x", 8000) + "\x00hit",
	})
	count := func(path, pattern string) (int, jsonvalue.Value) {
		t.Helper()
		v, err := call(t.Context(), f, "search", "path", path, "pattern", pattern)
		if err != nil {
			t.Errorf("%s in %s: %v", pattern, path, err)
		}
		matches, _ := v.Get("matches")
		return len(matches.Items()), v
	}
	for _, c := range []struct {
		path, pattern string
		matches       int
		truncated     bool
	}{
		{"many", "hit", 1000, true}, {"thousand", "hit", 1000, false}, {"many", "^hit$", 1000, true}, {"many", "none", 0, false},
		{"long", "end$", 1, false}, {"long", "^last$", 1, false}, {"huge", "^a", 1, false}, {"huge", "tail", 0, false}, {"huge", "^next$", 1, false},
		{"binary", "hit", 0, false}, {"late", "hit", 1, false}, {"many", "", 1000, true},
	} {
		n, v := count(c.path, c.pattern)
		if truncated, _ := v.Get("truncated"); n != c.matches || truncated.IsTrue() != c.truncated {
			t.Errorf("%q in %s: %d matches, truncated %v", c.pattern, c.path, n, truncated.IsTrue())
		}
	}
	_, v := count("long", "^begin")
	matches, _ := v.Get("matches")
	text, _ := matches.Items()[0].Get("text")
	if cut, _ := matches.Items()[0].Get("text_truncated"); !cut.IsTrue() || text.Text() != "begin"+strings.Repeat("é", 497) {
		t.Errorf("a long line: %d bytes, truncated %v", len(text.Text()), cut.IsTrue())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{".", "many"} {
		if _, err := call(ended, f, "search", "path", path, "pattern", "none"); !errors.Is(err, context.Canceled) {
			t.Errorf("search %s after the end of the context: %v", path, err)
		}
	}
	if _, err := call(ended, f, "list_dir", "path", "."); !errors.Is(err, context.Canceled) {
		t.Errorf("list_dir after the end of the context: %v", err)
	}
}

// TestWritingKeepsTheFile checks that writing keeps modes, hard links and symbolic links.
func TestWritingKeepsTheFile(t *testing.T) {
	for tool, pairs := range map[string][]string{"write_file": {"content", "new"}, "edit_file": {"old_text", "old", "new_text", "new"}} {
		f, top := openFiles(t, map[string]string{"plain": "old", "hard": "old", "target": "old"})
		at := func(name string) string { return filepath.Join(top, name) }
		if err := errors.Join(os.Link(at("hard"), at("second")), os.Symlink("target", at("soft")), os.Chmod(at("plain"), 0o751),
			os.Chmod(at("hard"), 0o604), os.Chmod(at("target"), 0o640)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"plain", "hard", "soft"} {
			if _, err := call(t.Context(), f, tool, append(pairs, "path", name)...); err != nil {
				t.Errorf("%s %s: %v", tool, name, err)
			}
		}
		for name, mode := range map[string]fs.FileMode{"plain": 0o751, "hard": 0o604, "second": 0o604, "target": 0o640} {
			data, err := os.ReadFile(at(name))
			info, serr := os.Lstat(at(name))
			if err != nil || serr != nil || string(data) != "new" || info.Mode() != mode {
				t.Errorf("%s: %s is %q with mode %v, %v, %v", tool, name, data, info.Mode(), err, serr)
			}
		}
		if target, err := os.Readlink(at("soft")); target != "target" || err != nil {
			t.Errorf("%s: the link leads to %q, %v", tool, target, err)
		}
	}
}

func TestEditing(t *testing.T) {
	for _, c := range []struct{ content, old, new, want string }{
		{"one two", "one", "", " two"},
		{"a\r\nb", "\r\n", "\n", "a\nb"},
		{"aXXXb", "XXX", "XX", "aXXb"},
		{"x\xffy", "x", "z", "z\xffy"},
		{"same", "same", "same", "same"},
		{"$1", "$1", "${0}", "${0}"},
		{"aaa", "aa", "b", ""}, // twice, overlapping
		{"", "a", "b", ""},
		{"a", "", "b", ""},
	} {
		f, top := openFiles(t, map[string]string{"f": c.content})
		_, err := call(t.Context(), f, "edit_file", "path", "f", "old_text", c.old, "new_text", c.new)
		want := c.want
		if want == "" {
			fails(t, c.content, err, domarkx.CodeInvalid, "times, expected exactly once")
			want = c.content
		} else if err != nil {
			t.Errorf("%q: %v", c.content, err)
		}
		if got, _ := os.ReadFile(filepath.Join(top, "f")); string(got) != want {
			t.Errorf("%q with %q for %q: %q, expected %q", c.content, c.new, c.old, got, want)
		}
	}
}

// TestWriteWithoutNote checks that a file keeps its content when its temporary file cannot be recorded.
func TestWriteWithoutNote(t *testing.T) {
	top, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	if err := errors.Join(os.WriteFile(filepath.Join(top, "f"), []byte("old"), 0o644), os.Mkdir(gone, 0o700)); err != nil {
		t.Fatal(err)
	}
	f, err := directory.OpenFiles(top, nil, filepath.Join(gone, "note"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t.Context(), f, "write_file", "path", "f", "content", "new"); err == nil {
		t.Error("it was written")
	}
	entries, err := os.ReadDir(top)
	if data, rerr := os.ReadFile(filepath.Join(top, "f")); string(data) != "old" || len(entries) != 1 || err != nil || rerr != nil {
		t.Errorf("%q, %v, %v, %v", data, entries, err, rerr)
	}
}

func TestMoving(t *testing.T) {
	for _, c := range []struct{ from, to, code, text string }{
		{"a", "b", domarkx.CodeInvalid, `"b" is there already`},
		{"a", "a", domarkx.CodeInvalid, `"a" is there already`},
		{"a", "dangling", domarkx.CodeInvalid, `"dangling" is there already`},
		{"dir", "dir/sub", domarkx.CodeInvalid, `"dir/sub" is in "dir"`},
		{".", "x", domarkx.CodeRefused, "the directory itself"},
		{"dir", ".", domarkx.CodeRefused, "the directory itself"},
		{"dir/..", "x", domarkx.CodeRefused, "the directory itself"},
		{"a", "", domarkx.CodeInvalid, "path is empty"},
		{"", "x", domarkx.CodeInvalid, "path is empty"},
		{"a", "b/x", domarkx.CodeInvalid, `"b" is no directory`},
		{"out/passwd", "x", domarkx.CodeRefused, "leads out of the resource"},
		{"a", "out/x", domarkx.CodeRefused, "leads out of the resource"},
		{"a", "new/deep/a", "", ""},
		{"dir", "directory", "", ""}, // a prefix of the name is not its parent
		{"dangling", "moved", "", ""},
	} {
		f, top := openFiles(t, map[string]string{"a": "a", "b": "b", "dir/c": "c"})
		if err := errors.Join(os.Symlink("gone", filepath.Join(top, "dangling")), os.Symlink("/etc", filepath.Join(top, "out"))); err != nil {
			t.Fatal(err)
		}
		_, err := call(t.Context(), f, "move", "from", c.from, "to", c.to)
		_, there := os.Lstat(filepath.Join(top, c.to))
		switch {
		case c.code != "":
			fails(t, c.from+" to "+c.to, err, c.code, c.text)
		case err != nil || there != nil:
			t.Errorf("%s to %s: %v, %v", c.from, c.to, err, there)
		}
	}
}

// TestToolsLikeAModel makes random calls and compares the directory with a map of files.
func TestToolsLikeAModel(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "d/a", "d/b", "d/e/a", "f/g"})
	text := rapid.SampledFrom([]string{"", "one", "two one", "xx", "é\n"})
	rapid.Check(t, func(rt *rapid.T) {
		f, top := openFiles(t, nil)
		model := map[string]string{}
		below := func(dir string) (found []string) {
			for p := range model {
				if p == dir || strings.HasPrefix(p, dir+"/") {
					found = append(found, p)
				}
			}
			return found
		}
		for range rapid.IntRange(1, 15).Draw(rt, "calls") {
			at := name.Draw(rt, "path")
			switch tool := rapid.SampledFrom([]string{"write", "edit", "move", "delete"}).Draw(rt, "tool"); tool {
			case "write":
				content := text.Draw(rt, "content")
				if _, err := call(rt.Context(), f, "write_file", "path", at, "content", content); err != nil {
					rt.Fatalf("write %s: %v", at, err)
				}
				model[at] = content
			case "edit":
				_, err := call(rt.Context(), f, "edit_file", "path", at, "old_text", "one", "new_text", "xx")
				if possible := strings.Count(model[at], "one") == 1; possible != (err == nil) {
					rt.Fatalf("edit %q: %v", model[at], err)
				} else if possible {
					model[at] = strings.Replace(model[at], "one", "xx", 1)
				}
			case "move":
				to := name.Draw(rt, "to")
				_, present := model[at]
				_, err := call(rt.Context(), f, "move", "from", at, "to", to)
				if possible := present && len(below(to)) == 0; possible != (err == nil) {
					rt.Fatalf("move %s to %s: %v; %v", at, to, err, model)
				} else if possible {
					model[to] = model[at]
					delete(model, at)
				}
			case "delete":
				dir := rapid.SampledFrom([]string{at, path.Dir(at)}).Draw(rt, "deleted")
				_, err := call(rt.Context(), f, "delete", "path", dir)
				if len(below(dir)) > 0 && err != nil && dir != "." {
					rt.Fatalf("delete %s: %v", dir, err)
				}
				if dir != "." {
					for _, p := range below(dir) {
						delete(model, p)
					}
				}
			}
		}
		got := map[string]string{}
		err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(p)
			got[strings.TrimPrefix(p, top+"/")] = string(data)
			return err
		})
		if err != nil || !maps.Equal(got, model) {
			rt.Errorf("%v, expected %v; %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(model)), err)
		}
	})
}
