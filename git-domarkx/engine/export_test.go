package engine_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// transcript is a transcript of Claude Code with one message of each role.
const transcript = `{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"11111111-1111-4111-8111-111111111111","sessionId":"5e550000-0000-4000-8000-000000000001","cwd":"/w","version":"2.1.0","timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"user","content":"Hello"}}
{"parentUuid":"11111111-1111-4111-8111-111111111111","isSidechain":false,"type":"assistant","uuid":"22222222-2222-4222-8222-222222222222","sessionId":"5e550000-0000-4000-8000-000000000001","cwd":"/w","version":"2.1.0","timestamp":"2026-03-01T10:00:02.000Z","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Good day."}],"stop_reason":"end_turn"}}
`

func imported(t *testing.T) *clone {
	t.Helper()
	c := newClone(t)
	c.ImportOne(importer.Request{As: "s", Paths: []string{c.WriteFile("a.jsonl", transcript)}})
	return c
}

func exported(c *clone, r engine.ExportRequest) string {
	c.T.Helper()
	e, err := c.Export(c.T.Context(), r)
	if err != nil {
		c.T.Fatal(err)
	}
	var b bytes.Buffer
	if err := e.Write(&b); err != nil {
		c.T.Fatal(err)
	}
	return b.String()
}

func TestExport(t *testing.T) {
	c := imported(t)
	whole := engine.Revision{Name: "s", Message: -1}
	if got := exported(c, engine.ExportRequest{Revision: whole, Format: "claude-code"}); got != transcript {
		t.Errorf("not the original: %q", got)
	}
	if got := exported(c, engine.ExportRequest{Revision: whole, Format: "md"}); got != c.Shown("s") {
		t.Errorf("Markdown: %q", got)
	}
	one := engine.Revision{Name: "s", Message: 1}
	if got := exported(c, engine.ExportRequest{Revision: one, Format: "md"}); !strings.Contains(got, "Good day.") || strings.Contains(got, "Hello") {
		t.Errorf("message 1: %q", got)
	}
	c.Appended("s", "More.")
	if got := exported(c, engine.ExportRequest{Revision: whole, Format: "claude-code"}); got == transcript || !strings.Contains(got, "More.") {
		t.Errorf("after an edit: %q", got)
	}
	if got := exported(c, engine.ExportRequest{Revision: engine.Revision{Name: "s", Back: 1, Message: -1}, Format: "claude-code"}); got != transcript {
		t.Errorf("the imported snapshot: %q", got)
	}
}

// TestExportAfterDamage checks that a session can be written for another program although an earlier snapshot
// of it is damaged.
func TestExportAfterDamage(t *testing.T) {
	c := newClone(t)
	first := c.Saved("s", "", "## user\n\nHello\n").Info
	c.Appended("s", "More.")
	tree := strings.TrimSpace(gittest.Run(t, c.Dir, "rev-parse", first.ID+"^{tree}"))
	c.Unpack()
	if err := os.Remove(filepath.Join(c.Dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	c = openClone(t, c.Dir, c.Settings)
	got := exported(c, engine.ExportRequest{Revision: engine.Revision{Name: "s", Message: -1}, Format: "pi"})
	if !strings.Contains(got, "Hello") || !strings.Contains(got, "More.") {
		t.Errorf("exported %q", got)
	}
}

func TestExportRefuses(t *testing.T) {
	c := imported(t)
	attached(c, "a.txt", "one")
	whole := engine.Revision{Name: "s", Message: -1}
	tests := []struct {
		name    string
		request engine.ExportRequest
		want    string
	}{
		{"an unknown format", engine.ExportRequest{Revision: whole, Format: "word"}, `format "word": not supported, expected one of`},
		{"a session that does not exist", engine.ExportRequest{Revision: engine.Revision{Name: "t", Message: -1}, Format: "md"}, `not found`},
		{"a message in a format of sessions", engine.ExportRequest{Revision: engine.Revision{Name: "s", Message: 0}, Format: "claude-code"}, "is a whole session"},
		{"a message that does not exist", engine.ExportRequest{Revision: engine.Revision{Name: "s", Message: 7}, Format: "md"}, "messages #0 to #1"},
		{"a team of a format without teams", engine.ExportRequest{Revision: whole, Format: "claude-code", Team: "x"}, "belongs to no team"},
		{"a loss", engine.ExportRequest{Revision: whole, Format: "claude-code", Strict: true}, "would lose 1 things"},
	}
	for _, tt := range tests {
		_, err := c.Export(t.Context(), tt.request)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", tt.name, err, tt.want)
		}
	}
	e, err := c.Export(t.Context(), engine.ExportRequest{Revision: whole, Format: "claude-code"})
	if err != nil || e.Losses.Len() != 1 || len(e.Files) != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// written exports the session "s" as Markdown with its attached files to a path.
func written(c *clone, path string) error {
	c.T.Helper()
	e, err := c.Export(c.T.Context(), engine.ExportRequest{Revision: engine.Revision{Name: "s", Message: -1}, Format: "md"})
	if err != nil {
		c.T.Fatal(err)
	}
	return e.WriteFile(path)
}

func TestWriteFile(t *testing.T) {
	c := newClone(t)
	c.Appended("s", "Hello.")
	want := c.Shown("s")
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"private": 0o600, "all": 0o666, "program": 0o755} {
		if err := errors.Join(os.WriteFile(path(name), []byte("old"), 0o600), os.Chmod(path(name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "private", "dangling": "made-by-link"} {
		if err := os.Symlink(target, path(link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"new": 0o644, "private": 0o600, "all": 0o666, "program": 0o755, "link": 0o600, "dangling": 0o644} {
		if err := written(c, path(name)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		data, err := os.ReadFile(path(name))
		info, err2 := os.Stat(path(name))
		if err := errors.Join(err, err2); err != nil || string(data) != want || info.Mode().Perm() != mode {
			t.Errorf("%s: %q, %v, %v", name, data, info.Mode(), err)
		}
	}
	if target, err := os.Readlink(path("link")); err != nil || target != "private" {
		t.Errorf("the link was replaced: %q, %v", target, err)
	}
	if err := os.Mkdir(path("directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"directory", "missing/file", "new/file"} {
		if err := written(c, path(name)); err == nil || !strings.Contains(err.Error(), "writing") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := filepath.Glob(path(".git-domarkx-*")); len(left) > 0 || err != nil {
		t.Errorf("temporary files are left: %q, %v", left, err)
	}
}

// TestAttachedBesideDocument writes attached files beside a document, and never over another file or through a link
// to the outside. If one cannot be written, none is.
func TestAttachedBesideDocument(t *testing.T) {
	outside := t.TempDir()
	tests := []struct {
		name    string
		prepare func(dir string) error
		want    string // part of the error; "" if it is written
	}{
		{"an empty directory", func(string) error { return nil }, ""},
		{"the same file", func(dir string) error { return write(dir, "sub/b.txt", "two") }, ""},
		{"another file", func(dir string) error { return write(dir, "sub/b.txt", "TWO") }, "another file is there"},
		{"a longer file", func(dir string) error { return write(dir, "sub/b.txt", "two and more") }, "another file is there"},
		{"a directory", func(dir string) error { return os.MkdirAll(filepath.Join(dir, "sub/b.txt"), 0o755) }, "another file is there"},
		{"a link to nothing", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o755), os.Symlink("none", filepath.Join(dir, "sub/b.txt")))
		}, "leads nowhere"},
		{"a link to the same file", func(dir string) error {
			return errors.Join(write(dir, "sub/c.txt", "two"), os.Symlink("c.txt", filepath.Join(dir, "sub/b.txt")))
		}, ""},
		{"a directory that leads outside", func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "sub")) }, "escapes"},
		{"a file in the place of a directory", func(dir string) error { return write(dir, "sub", "") }, "not a directory"},
	}
	c := newClone(t)
	c.Appended("s", "Hello.")
	attached(c, "a.txt", "one")
	attached(c, "sub/b.txt", "two")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tt.prepare(dir); err != nil {
				t.Fatal(err)
			}
			err := written(c, filepath.Join(dir, "s.md"))
			for name, content := range map[string]string{"a.txt": "one", "sub/b.txt": "two", "s.md": c.Shown("s")} {
				data, readErr := os.ReadFile(filepath.Join(dir, name))
				if tt.want == "" && (readErr != nil || string(data) != content) {
					t.Errorf("%s: %q, %v", name, data, readErr)
				}
				if tt.want != "" && readErr == nil && (name != "sub/b.txt" || string(data) == content) {
					t.Errorf("%s was written", name)
				}
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
	if left, err := os.ReadDir(outside); len(left) > 0 || err != nil {
		t.Errorf("written outside: %v, %v", left, err)
	}
}

func write(dir, name, content string) error {
	path := filepath.Join(dir, name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644))
}

// TestWriteIn writes documents into the directory of a program, or by the name of the session.
func TestWriteIn(t *testing.T) {
	c := newClone(t)
	c.Appended("dir/s", "Hello.")
	dir := filepath.Join(t.TempDir(), "new")
	for range 2 {
		e, err := c.Export(t.Context(), engine.ExportRequest{Revision: engine.Revision{Name: "dir/s", Message: -1}, Format: "md"})
		if err != nil {
			t.Fatal(err)
		}
		path, err := e.WriteIn(dir, 0o600)
		if err != nil || path != filepath.Join(dir, "dir", "s.md") {
			t.Errorf("%q, %v", path, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := c.Export(t.Context(), engine.ExportRequest{Revision: engine.Revision{Name: "dir/s", Message: -1}, Format: "md"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.WriteIn(file, 0o600); err == nil || !strings.Contains(err.Error(), "writing below") {
		t.Errorf("below a file: %v", err)
	}
}

func TestExportIs(t *testing.T) {
	c := imported(t)
	e, err := c.Export(t.Context(), engine.ExportRequest{Revision: engine.Revision{Name: "s", Message: -1}, Format: "claude-code"})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("cable pulled")
	for _, tt := range []struct {
		name    string
		content io.Reader
		same    bool
		err     error
	}{
		{"the same", strings.NewReader(transcript), true, nil},
		{"the same, byte by byte", iotest.OneByteReader(strings.NewReader(transcript)), true, nil},
		{"longer", strings.NewReader(transcript + "\n"), false, nil},
		{"shorter", strings.NewReader(transcript[:len(transcript)-1]), false, nil},
		{"empty", strings.NewReader(""), false, nil},
		{"another byte", strings.NewReader(strings.Replace(transcript, "Hello", "hello", 1)), false, nil},
		{"unreadable", iotest.ErrReader(broken), false, broken},
		{"unreadable at the end", io.MultiReader(strings.NewReader(transcript), iotest.ErrReader(broken)), false, broken},
	} {
		if same, err := e.Is(tt.content); same != tt.same || !errors.Is(err, tt.err) {
			t.Errorf("%s: %t, %v", tt.name, same, err)
		}
	}
}

// TestAgent says which program a session is from.
func TestAgent(t *testing.T) {
	c := imported(t)
	c.Appended("own", "Hello.")
	if agent := c.Agent(t.Context(), c.Tip("s")); agent != "claude-code" {
		t.Errorf("the agent is %q", agent)
	}
	if agent := c.Agent(t.Context(), c.Tip("own")); agent != "" {
		t.Errorf("the agent is %q", agent)
	}
	if agent := c.Agent(t.Context(), domarkx.Info{ID: strings.Repeat("1", 40)}); agent != "" {
		t.Errorf("the agent of nothing is %q", agent)
	}
}

// TestRememberExport exports a session and imports the file again, changed: the session goes on.
func TestRememberExport(t *testing.T) {
	c := newClone(t)
	c.Appended("s", "Hello.")
	request := engine.ExportRequest{Revision: engine.Revision{Name: "s", Message: -1}, Format: "claude-code"}
	e, err := c.Export(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "out.jsonl")
	for range 2 { // the second time nothing is to be done
		if err := errors.Join(e.WriteFile(path), c.RememberExport(t.Context(), e, path)); err != nil {
			t.Fatal(err)
		}
	}
	again := c.ImportOne(importer.Request{Paths: []string{path}})
	if again.Name != "s" || again.Changed {
		t.Errorf("imported unchanged: %+v", again)
	}
	if err := c.RememberExport(t.Context(), e, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error for a file that does not exist")
	}
	markdown, err := c.Export(t.Context(), engine.ExportRequest{Revision: request.Revision, Format: "md"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RememberExport(t.Context(), markdown, filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("Markdown is not remembered: %v", err)
	}
}
