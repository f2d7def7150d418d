package importer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// sessions returns the names of all sessions.

func (c *clone) sessions() []string {
	c.T.Helper()
	all, err := c.List(c.T.Context())
	if err != nil {
		c.T.Fatal(err)
	}
	found := []string{}
	for _, info := range all {
		found = append(found, info.Name)
	}
	return found
}

// openCode creates a database of OpenCode with two sessions.

func openCode(t *testing.T, path string) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rest := `CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text, version text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
INSERT INTO session VALUES ('ses_1', 'global', NULL, 'a', '/w', 'First', '1', 1772784001000, 1);
INSERT INTO session VALUES ('ses_2', 'global', NULL, 'b', '/w', 'Second', '1', 1772784002000, 1);
INSERT INTO message VALUES ('msg_1', 'ses_1', 1, 1, '{"role":"user","time":{"created":1772784001000}}');
INSERT INTO message VALUES ('msg_2', 'ses_2', 1, 1, '{"role":"user","time":{"created":1772784002000}}');
INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1, 1, '{"type":"text","text":"One"}');
INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_2', 1, 1, '{"type":"text","text":"Two"}');`
	for rest != "" {
		s, after, err := db.Prepare(rest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		rest = strings.TrimSpace(after)
	}
}

// prepare writes the files of TestPaths into the work tree.

// TestPaths: which paths become which sessions, and why others do not.

// TestAttach: which files a document brings, and why others stay outside.

// TestValidate: problems are reported with their places, and nothing is stored.

func TestValidate(t *testing.T) {
	c := newClone(t)
	t.Chdir(c.Dir)
	c.ImportFile(c.WriteFile("valid.md", "```workspace-config\nresources:\n  - type: filesystem\n    id: x\n```\n\n"+hi))
	snapshot := c.ShownIn("valid", engine.JSON)
	for _, test := range []struct{ name, file, text, want string }{
		{"a session", "s.md", hi, ""},
		{"notes", "s.md", "Notes.\n", "s.md:1:1: holds no message"},
		{"a role of tomorrow", "s.md", "## tool\n\nx\n", `s.md:1:1: the heading "## tool"`},
		{"an unclosed fence", "s.md", "## user\n\n```tool-call\n{\n", "s.md:5:1: tool-call block: "},
		{"front matter", "s.md", "---\ntitle: [\n---\n\n## user\n\nHi\n", "s.md:"},
		{"an unknown type of resource", "s.md", "```workspace-config\nresources:\n  - type: none\n    id: x\n```\n\n## user\n\nHi\n", "s.md:3:"},
		{"a configuration that its plugin rejects", "s.md", "```workspace-config\nresources:\n  - id: n\n    type: notes\n    more: 5\n```\n\n## user\n\nHi\n", "s.md:"},
		{"the same in JSON", "s.json", strings.Replace(snapshot, "\"filesystem\"", "\"none\"", 1), "s.json:"},
		{"an include that does not exist", "s.md", "[include](none.md)\n", "none.md"},
		{"an include of elsewhere", "s.md", "[include](../../etc/passwd)\n", "s.md:1:"},
		{"damage in a transcript", "s.jsonl", `{"type":"user","parentUuid":null,"isSidechain":false,"sessionId":"s","uuid":"u","message":{"role":"user","content":"Hi"}}` + "\ngarbage\n", "s.jsonl:2:1: bytes "},
		{"a missing file", "none.md", "", "none.md: no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.text != "" {
				c.WriteFile(test.file, test.text)
			}
			var reports []string
			n, err := c.Validate(t.Context(), []string{test.file}, nil, func(err error) { reports = append(reports, err.Error()) })
			if err != nil || n > 1 {
				t.Fatal(n, err)
			}
			if got := strings.Join(reports, "\n"); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("reports %q, want %q", got, test.want)
			}
			if got := c.sessions(); len(got) != 1 {
				t.Errorf("there are sessions %q", got)
			}
		})
	}
	path := c.WriteFile("s.md", hi)
	if n, err := c.Validate(t.Context(), []string{"-"}, strings.NewReader(hi), func(err error) { t.Error(err) }); n != 1 || err != nil {
		t.Errorf("standard input: %d documents, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Validate(ctx, []string{path}, nil, func(error) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestCancelled: an import that is cancelled changes nothing, and one after it imports all.

func TestCancelled(t *testing.T) {
	c := newClone(t)
	var paths []string
	for i := range 5 {
		paths = append(paths, c.WriteFile(fmt.Sprintf("s%d.md", i), hi))
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Import(ctx, importer.Request{Paths: paths, Progress: func(done, total int) {
		if done == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := c.sessions(); len(got) > 0 {
		t.Errorf("there are sessions %q", got)
	}
	result, err := c.Import(t.Context(), importer.Request{Paths: paths})
	if err != nil || len(result.Sessions) != 5 {
		t.Errorf("imported %q, %v", names(result), err)
	}
	c.Fsck()
}

// TestWrittenMeanwhile: a transcript that is rewritten while it is read is not stored half old and half new.

func TestWrittenMeanwhile(t *testing.T) {
	c := newClone(t)
	record := func(id, text string) string {
		return fmt.Sprintf(`{"type":"user","parentUuid":%q,"isSidechain":false,"sessionId":"s","uuid":%q,"message":{"role":"user","content":%q}}`+"\n", id+"0", id, text)
	}
	old, changed := record("a", "old one")+record("b", "old two"), record("a", "new one")+record("b", "new two")
	path := c.WriteFile("s.jsonl", old)
	c.Reading = func() {
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Error(err)
		}
		c.Reading = nil
	}
	result, err := c.Import(t.Context(), importer.Request{Paths: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	for _, saved := range result.Sessions {
		if text := c.Shown(saved.Name); strings.Contains(text, "old") == strings.Contains(text, "new") {
			t.Errorf("stored half of it:\n%s", text)
		}
	}
	for _, bad := range result.Bad {
		if !errors.Is(bad, domarkx.ErrInvalid) || !strings.Contains(bad.Error(), "changed while it was read") {
			t.Error(bad)
		}
	}
	if len(result.Sessions)+len(result.Bad) == 0 {
		t.Error("the file was neither imported nor reported")
	}
	again, err := c.Import(t.Context(), importer.Request{Paths: []string{path}})
	if err != nil || len(again.Sessions) != 1 || !strings.Contains(c.Shown(again.Sessions[0].Name), "new two") {
		t.Errorf("imported again: %v, %v", again.Bad, err)
	}
}

// TestIgnoredByGit: outside of a repository, nothing is ignored.

func TestIgnoredByGit(t *testing.T) {
	c := newClone(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"s.md": "## user\n\n![x](a.gif)\n", "a.gif": "GIF89a", ".gitignore": "*.gif\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result, err := c.Import(t.Context(), importer.Request{Paths: []string{filepath.Join(dir, "s.md")}})
	if err != nil || len(result.Attached) != 1 {
		t.Errorf("attached %v, warnings %v, %v", result.Attached, result.Warnings, err)
	}
}
