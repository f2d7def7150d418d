package agents_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// A user is a home directory with agents.
type user struct {
	*testing.T
	home string
	env  map[string]string
}

func newUser(t *testing.T) *user {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &user{t, home, map[string]string{"HOME": home}}
}

func (u *user) getenv(name string) string { return u.env[name] }

func (u *user) path(name string) string { return filepath.Join(u.home, name) }

// write writes a file below the home directory; HOME in the text stands for that directory.
func (u *user) write(name, text string) {
	u.Helper()
	u.mkdir(filepath.Dir(name))
	if err := os.WriteFile(u.path(name), []byte(strings.ReplaceAll(text, "HOME", u.home)), 0o600); err != nil {
		u.Fatal(err)
	}
}

func (u *user) mkdir(name string) string {
	u.Helper()
	if err := os.MkdirAll(u.path(name), 0o700); err != nil {
		u.Fatal(err)
	}
	return u.path(name)
}

func (u *user) agent(name string) agents.Agent {
	u.Helper()
	a, ok := agents.ByName(name)
	if !ok {
		u.Fatalf("%s is not known", name)
	}
	return a
}

// expect checks which transcripts exist, and which of them began in the work trees.
func (u *user) expect(agent string, found, here string, trees ...string) {
	u.Helper()
	a := u.agent(agent)
	files, err := a.Find(u.Context(), u.getenv)
	if err != nil {
		u.Fatal(err)
	}
	for i, tree := range trees {
		trees[i] = u.path(tree)
	}
	began, err := a.Here(u.Context(), u.getenv, files, trees)
	if err != nil {
		u.Fatal(err)
	}
	names := func(files []string) string {
		var names []string
		for _, file := range files {
			rel, err := filepath.Rel(a.Home(u.getenv), file)
			if err != nil {
				u.Fatal(err)
			}
			names = append(names, filepath.ToSlash(rel))
		}
		return strings.Join(names, " ")
	}
	if got := names(files); got != found {
		u.Errorf("found %q, want %q", got, found)
	}
	if got := names(began); got != here {
		u.Errorf("here %q, want %q", got, here)
	}
}

func TestAgents(t *testing.T) {
	for name, test := range map[string]struct {
		env         map[string]string
		files       map[string]string
		found, here string
	}{
		"claude-code": {nil, map[string]string{
			".claude/projects/-x/1.jsonl":                               `{"type":"summary"}` + "\nnot JSON \"cwd\"\n" + `{"type":"user","cwd":"HOME/repo/sub"}` + "\n",
			".claude/projects/-x/1/subagents/agent-a.jsonl":             `{"cwd":"HOME/repo"}`,
			".claude/projects/-x/1/subagents/workflows/w/agent-b.jsonl": `{"cwd":"HOME/repo"}`,
			".claude/projects/-x/2.jsonl":                               `{"cwd":"HOME/elsewhere"}` + "\n" + `{"cwd":"HOME/repo"}`,
			".claude/projects/-x/3.jsonl":                               `{"cwd":"repo"}`,
			".claude/projects/-x/1/tool-results/x.jsonl":                `{"cwd":"HOME/repo"}`,
			".claude/history.jsonl":                                     `{"cwd":"HOME/repo"}`,
		}, "projects/-x/1/subagents/agent-a.jsonl projects/-x/1/subagents/workflows/w/agent-b.jsonl projects/-x/1.jsonl projects/-x/2.jsonl projects/-x/3.jsonl",
			"projects/-x/1/subagents/agent-a.jsonl projects/-x/1/subagents/workflows/w/agent-b.jsonl projects/-x/1.jsonl"},
		"claude-code elsewhere": {map[string]string{"CLAUDE_CONFIG_DIR": "HOME/c"}, map[string]string{
			"c/projects/-x/1.jsonl": `{"cwd":"HOME/repo"}`,
		}, "projects/-x/1.jsonl", "projects/-x/1.jsonl"},
		"codex": {nil, map[string]string{
			".codex/sessions/2026/01/02/rollout-a.jsonl":   `{"type":"session_meta","payload":{"cwd":"HOME/repo"}}`,
			".codex/archived_sessions/rollout-b.jsonl":     `{"type":"session_meta","payload":{"cwd":"HOME"}}`,
			".codex/sessions/2026/01/02/other.jsonl":       `{"payload":{"cwd":"HOME/repo"}}`,
			".codex/history.jsonl":                         ``,
			".codex/sessions/2026/01/02/rollout-c.jsonl.x": ``,
		}, "archived_sessions/rollout-b.jsonl sessions/2026/01/02/rollout-a.jsonl", "sessions/2026/01/02/rollout-a.jsonl"},
		"copilot": {map[string]string{"COPILOT_HOME": "HOME/cp"}, map[string]string{
			"cp/session-state/1/events.jsonl": `{"type":"session.start","data":{"context":{"cwd":"HOME/repo"}}}`,
			"cp/session-state/2/events.jsonl": `{"type":"session.start","data":{}}`,
		}, "session-state/1/events.jsonl session-state/2/events.jsonl", "session-state/1/events.jsonl"},
		"cursor": {nil, map[string]string{
			".cursor/projects/SLUG-repo/agent-transcripts/1/1.jsonl":  `{}`,
			".cursor/projects/SLUG-other/agent-transcripts/2/2.jsonl": `{}`,
		}, "projects/SLUG-other/agent-transcripts/2/2.jsonl projects/SLUG-repo/agent-transcripts/1/1.jsonl", "projects/SLUG-repo/agent-transcripts/1/1.jsonl"},
		"gemini": {nil, map[string]string{
			".gemini/tmp/repo/.project_root":          "HOME/repo\n",
			".gemini/tmp/repo/chats/session-1.jsonl":  `{}`,
			".gemini/tmp/repo/chats/sub/agent.jsonl":  `{}`,
			".gemini/tmp/hash/chats/session-2.json":   `{}`,
			".gemini/tmp/repo/checkpoints/x.json":     `{}`,
			".gemini/tmp/repo/logs.json":              `[]`,
			".gemini/tmp/other/.project_root":         "HOME/other",
			".gemini/tmp/other/chats/session-3.jsonl": `{}`,
		}, "tmp/hash/chats/session-2.json tmp/other/chats/session-3.jsonl tmp/repo/chats/session-1.jsonl tmp/repo/chats/sub/agent.jsonl",
			"tmp/repo/chats/session-1.jsonl tmp/repo/chats/sub/agent.jsonl"},
		"pi":   {nil, map[string]string{".pi/agent/sessions/--x--/1.jsonl": `{"type":"session","cwd":"HOME/repo"}`}, "sessions/--x--/1.jsonl", "sessions/--x--/1.jsonl"},
		"qwen": {nil, map[string]string{".qwen/projects/-x/chats/1.jsonl": `{"cwd":"HOME/repo"}`}, "projects/-x/chats/1.jsonl", "projects/-x/chats/1.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.mkdir("repo/.git")
			slug := func(s string) string {
				return strings.ReplaceAll(s, "SLUG", strings.Trim(strings.NewReplacer("/", "-", "_", "-", ".", "-").Replace(u.home), "-"))
			}
			for name, value := range test.env {
				u.env[name] = strings.ReplaceAll(value, "HOME", u.home)
			}
			for name, text := range test.files {
				u.write(slug(name), text)
			}
			agent, _, _ := strings.Cut(name, " ")
			u.expect(agent, slug(test.found), slug(test.here), "repo")
		})
	}
}

// TestInnermost checks which of nested repositories a conversation belongs to.
func TestInnermost(t *testing.T) {
	u := newUser(t)
	u.mkdir("repo/.git")
	u.mkdir("repo/nested/.git")
	u.mkdir("real")
	if err := os.Symlink(u.path("repo"), u.path("link")); err != nil {
		t.Fatal(err)
	}
	u.write("repo/linked/.git", "gitdir: x")
	for name, cwd := range map[string]string{"1": "repo", "2": "repo/nested/a", "3": "repo/gone/away", "4": "link/src", "5": "repo/linked", "6": "repository"} {
		u.write(".qwen/projects/p/chats/"+name+".jsonl", `{"cwd":"HOME/`+cwd+`"}`)
	}
	u.write(".qwen/projects/p/chats/7.jsonl", strings.Repeat(" ", 5<<20)+"\n"+`{"cwd":"HOME/repo"}`)
	const all = "projects/p/chats/1.jsonl projects/p/chats/2.jsonl projects/p/chats/3.jsonl projects/p/chats/4.jsonl projects/p/chats/5.jsonl projects/p/chats/6.jsonl projects/p/chats/7.jsonl"
	u.expect("qwen", all, "projects/p/chats/1.jsonl projects/p/chats/3.jsonl projects/p/chats/4.jsonl", "repo")
	u.expect("qwen", all, "projects/p/chats/2.jsonl", "repo/nested")
	u.expect("qwen", all, "projects/p/chats/1.jsonl projects/p/chats/3.jsonl projects/p/chats/4.jsonl projects/p/chats/5.jsonl", "link", "repo/linked")
	u.expect("qwen", all, "")
}

// TestCompressed finds the directory in a compressed transcript.
func TestCompressed(t *testing.T) {
	u := newUser(t)
	u.mkdir("repo/.git")
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat(`{"type":"x"}`+"\n", 1000) + `{"type":"session_meta","payload":{"cwd":"` + u.path("repo") + `"}}` + "\n"
	u.mkdir(".codex/sessions")
	for name, data := range map[string][]byte{"a": encoder.EncodeAll([]byte(text), nil), "b": []byte("not zstd")} {
		if err := os.WriteFile(u.path(".codex/sessions/rollout-"+name+".jsonl.zst"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	u.expect("codex", "sessions/rollout-a.jsonl.zst sessions/rollout-b.jsonl.zst", "sessions/rollout-a.jsonl.zst", "repo")
}

// TestFindOnlyRegularFiles leaves out links, which can lead anywhere.
func TestFindOnlyRegularFiles(t *testing.T) {
	u := newUser(t)
	u.write("secret.jsonl", `{}`)
	u.write("outside/chats/1.jsonl", `{}`)
	u.mkdir(".qwen/projects/p/chats/dir.jsonl")
	u.write(".qwen/projects/p/chats/empty.jsonl", "")
	for link, target := range map[string]string{".qwen/projects/p/chats/link.jsonl": "secret.jsonl", ".qwen/projects/out": "outside"} {
		if err := os.Symlink(u.path(target), u.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	u.expect("qwen", "", "")
	u.expect("pi", "", "") // no directory

	t.Chdir(u.path("")) // without HOME, nothing below the working directory counts
	u.write(".qwen/projects/p/chats/own.jsonl", `{"cwd": "/"}`)
	delete(u.env, "HOME")
	u.expect("qwen", "", "")
	if dir, err := u.agent("qwen").ResumeDir(u.getenv, "/"); err == nil || u.agent("qwen").Match(u.getenv, ".qwen/projects/p/chats/own.jsonl") {
		t.Errorf("without HOME: %q", dir)
	}
	u.env["HOME"] = u.home

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.agent("qwen").Find(ctx, u.getenv); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestNewID makes ids of the version that the agent takes, which differ.
func TestNewID(t *testing.T) {
	u := newUser(t)
	seen := map[string]bool{}
	for _, a := range agents.All() {
		for range 100 {
			id, err := a.NewID()
			if err != nil || seen[id] {
				t.Fatalf("%s: %s, %v", a.Name, id, err)
			}
			seen[id] = true
			if parsed, err := uuid.Parse(id); err != nil || (parsed.Version() == 7) != (a.Name == "codex") {
				t.Errorf("%s: %s of version %d, %v", a.Name, id, parsed.Version(), err)
			}
		}
	}
	if got := u.agent("opencode").SessionID("01a204b5-bfd2-4ce3-b7a4-cd415ededa70"); got != "ses_01a204b5bfd24ce3b7a4cd415e" {
		t.Errorf("OpenCode: %s", got)
	}
}

// TestModel finds the model that OpenCode would choose: that of the repository, then that of the
// user, then the one that was chosen last.
func TestModel(t *testing.T) {
	u := newUser(t)
	u.mkdir("repo/.git")
	u.mkdir("repo/sub")
	opencode := u.agent("opencode")
	expect := func(want string) {
		t.Helper()
		got, err := opencode.Resume.Model(t.Context(), u.getenv, u.path("repo/sub"))
		if got != want || want == "" && !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	u.write("opencode.json", `{"model": "outside/of-the-repository"}`)
	expect("")
	u.write(".local/state/opencode/model.json", `{"recent": [{"providerID": "chosen", "modelID": "last/one"}]}`)
	expect("chosen/last/one")
	u.write(".config/opencode/opencode.json", `{"model": 7}`)
	expect("chosen/last/one")
	u.write(".config/opencode/opencode.jsonc", "{ // \"model\": \"no/one\"\n \"url\": \"https://x//y\", /* , } */ \"model\": \"user/\\\"m\", }")
	expect(`user/"m`)
	u.write("repo/opencode.json", `{"model": "repository/m"}`)
	expect("repository/m")
}
