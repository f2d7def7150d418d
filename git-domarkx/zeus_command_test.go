package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// zeusSnapshot is a snapshot with an agent of each kind.
const zeusSnapshot = `{"schema_version": 1, "working_agent_ids": ["a1"], "entries": [
	{"kind": "kitty", "agent_id": "a1", "name": "first", "cwd": "/w", "session_path": "/nowhere/a.jsonl"},
	{"kind": "hoplite", "agent_id": "h1", "name": "second", "cwd": "/w", "session_path": "/nowhere/h.jsonl"}]}`

// zeusPlace is a repository whose user has a directory of Zeus, and no terminals.
func zeusPlace(t *testing.T) (p place, state string) {
	t.Helper()
	p, state = newPlace(t), t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", linked(t, "git"))
	p.git("config", "domarkx.zeus.stateDir", state)
	return p, state
}

func TestZeusList(t *testing.T) {
	p, state := zeusPlace(t)
	if out, _ := p.run(0, "zeus", "list"); out != "" {
		t.Errorf("without snapshots: %q", out)
	}
	zeus := place{t, filepath.Join(state, "snapshots")}
	zeus.write("20260101T000000Z-one.json", zeusSnapshot)
	zeus.write("20260201T000000Z-two.json", strings.ReplaceAll(zeusSnapshot, `"h1"`, `"h2"`))
	zeus.write(".hidden.json", zeusSnapshot)
	zeus.write("notes.txt", "x")
	zeus.write("directory.json/x", "x")
	const want = "a1\tkitty\tsaved\t20260201T000000Z-two\nh2\thoplite\tsaved\t20260201T000000Z-two\n" +
		"a1\tkitty\tsaved\t20260101T000000Z-one\nh1\thoplite\tsaved\t20260101T000000Z-one\n"
	if out, _ := p.run(0, "zeus", "list"); out != want {
		t.Errorf("got\n%s", out)
	}
	// What cannot be read does not hide the others.
	zeus.write("20260301T000000Z-bad.json", "{")
	zeus.write("20260302T000000Z-other.json", `{"schema_version": 99, "entries": []}`)
	out, stderr := p.run(exitNo, "zeus", "list")
	if out != want || !strings.Contains(stderr, "20260301T000000Z-bad") || !strings.Contains(stderr, "20260302T000000Z-other") {
		t.Errorf("got\n%s\n%s", out, stderr)
	}
	// A snapshot that was imported is the session.
	p.run(0, "-q", "import", filepath.Join(zeus.dir, "20260101T000000Z-one.json"))
	if again, _ := p.run(exitNo, "zeus", "list"); strings.Count(again, "20260101T000000Z-one") != 2 {
		t.Errorf("got\n%s", again)
	}
}

// TestZeusRestoreFinds checks where a snapshot is looked for, and the messages about those that cannot be restored.
func TestZeusRestoreFinds(t *testing.T) {
	p, state := zeusPlace(t)
	zeus := place{t, filepath.Join(state, "snapshots")}
	zeus.write("empty.json", `{"schema_version": 1, "entries": []}`)
	zeus.write("bad.json", "{")
	zeus.write("later.json", `{"schema_version": 99, "entries": [{"kind": "kitty", "agent_id": "a"}]}`)
	p.write("here.json", `{"schema_version": 1, "entries": []}`)
	p.write("notes.md", "## user\n\nx\n")
	p.run(0, "-q", "append", "--new", "-m", "x", "talk")
	for name, test := range map[string]struct {
		snapshot string
		status   int
		text     string
	}{
		"by name":             {"empty", 1, "snapshot empty has no agents of Zeus"},
		"by its file":         {"empty.json", 1, "snapshot empty.json has no agents of Zeus"},
		"a path":              {"here.json", 1, "snapshot here.json has no agents of Zeus"},
		"no JSON":             {"bad", 1, "bad.json:"},
		"of a later version":  {"later", 1, "later"},
		"a path that is none": {"nowhere.json", 128, "there is no such file in " + filepath.Join(state, "snapshots")},
		"not a JSON file":     {"notes.md", 128, "zeus list shows what there is"},
		"out of the state":    {"../../etc/passwd", 128, "zeus list shows what there is"},
		"a session of others": {"talk", 1, "talk"},
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			out, stderr := p.run(test.status, "zeus", "restore", test.snapshot)
			if out != "" || !strings.Contains(stderr, test.text) {
				t.Errorf("printed %q and %q, expected %q", out, stderr, test.text)
			}
		})
	}
}

func TestZeusSaveFindsNobody(t *testing.T) {
	p, state := zeusPlace(t)
	if out, stderr := p.run(exitNo, "zeus", "save"); out != "" || stderr == "" {
		t.Errorf("printed %q and %q", out, stderr)
	}
	if out, _ := p.run(exitNo, "zeus", "save", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("as JSON: %q", out)
	}
	if files, err := filepath.Glob(filepath.Join(state, "snapshots", "*")); err != nil || len(files) > 0 || p.refs() != "" {
		t.Errorf("it saved %q, %q", files, p.refs())
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"plain": "plain", " two words ": "two-words", "../../etc": "etc", "a/b\\c": "a-b-c", "grüße": "gr-e", "": "snapshot", "...": "snapshot", "日本": "snapshot", strings.Repeat("x", 200): strings.Repeat("x", 150),
	} {
		if got := slug(name); got != want {
			t.Errorf("%q becomes %q, expected %q", name, got, want)
		}
	}
}

// linked returns a directory with links to programs, for PATH.
func linked(t *testing.T, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
