package agents_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// database creates a database of OpenCode with sessions, each an id, a directory and a message.
func (u *user) database(name string, sessions ...[3]string) string {
	u.Helper()
	u.mkdir(filepath.Dir(name))
	c, err := sqlite3.Open(u.path(name))
	if err != nil {
		u.Fatal(err)
	}
	defer c.Close()
	statements := []string{"CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text, version text, time_created integer, time_updated integer)",
		"CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text)",
		"CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text)"}
	for _, s := range sessions {
		statements = append(statements, "INSERT INTO session VALUES ('"+s[0]+"', 'global', NULL, 's', '"+u.path(s[1])+"', 'T', '1', 1, 1)",
			"INSERT INTO message VALUES ('msg_"+s[0]+"', '"+s[0]+"', 1, 1, '"+s[2]+"')")
	}
	for _, statement := range statements {
		s, _, err := c.Prepare(statement)
		if err != nil {
			u.Fatal(err)
		}
		if _, err := s.Step(); err != nil {
			u.Fatal(err)
		}
		if err := s.Close(); err != nil {
			u.Fatal(err)
		}
	}
	return u.path(name)
}

const openCode = ".local/share/opencode/"

// TestDatabases finds the sessions in OpenCode's databases, and those of its older files.
func TestDatabases(t *testing.T) {
	u := newUser(t)
	u.mkdir("repo/.git")
	u.mkdir("other/.git")
	database := u.database(openCode+"opencode.db", [3]string{"ses_1", "repo/sub", "{}"}, [3]string{"ses_2", "other", "{}"})
	u.write(openCode+"storage/session/global/ses_9.json", `{"id": "ses_9", "directory": "HOME/repo", "title": "T", "time": {"created": 1, "updated": 1}}`)
	u.write(openCode+"storage/session/global/notes.json", `{}`)
	u.mkdir(openCode + "storage/message")
	u.mkdir(openCode + "storage/part")
	a := u.agent("opencode")
	files, err := a.Find(t.Context(), u.getenv)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, file := range files {
		_, id, ok := opencodedb.Split(file)
		if !ok {
			t.Errorf("%s is not a session", file)
		}
		ids = append(ids, id)
	}
	if diff := cmp.Diff([]string{"ses_9", "ses_1", "ses_2"}, ids); diff != "" {
		t.Fatalf("found (-want +got):\n%s", diff)
	}
	here, err := a.Here(t.Context(), u.getenv, files, []string{u.path("repo")})
	if err != nil || !slices.Equal(here, files[:2]) {
		t.Errorf("here %q, %v", here, err)
	}
	for _, file := range files {
		if !a.Match(u.getenv, file) && strings.HasPrefix(file, database) {
			t.Errorf("%s is not one of its transcripts", file)
		}
	}
	if dir, ok := a.Began(u.getenv, nil, files[1]); !ok || dir != u.path("repo/sub") {
		t.Errorf("the first session began in %q, %t", dir, ok)
	}
	for _, file := range []string{opencodedb.Path(database, "ses_7"), opencodedb.Path(u.path("none.db"), "ses_1"), u.path("notes.txt")} {
		if dir, ok := a.Began(u.getenv, nil, file); ok {
			t.Errorf("%s began in %q", file, dir)
		}
	}
	if _, err := agents.Stat(files[1]); err != nil {
		t.Error(err)
	}
	u.write(openCode+"opencode-next.db", "SQLite format 3\x00 but no database")
	found, err := a.Find(t.Context(), u.getenv)
	if err == nil || !strings.Contains(err.Error(), "opencode-next.db") || !slices.Equal(found, files) {
		t.Errorf("with a broken database: found %q, %v", found, err)
	}
}

// TestDatabaseModel: OpenCode would choose the model that it used last.
func TestDatabaseModel(t *testing.T) {
	u := newUser(t)
	u.mkdir("repo/.git")
	u.env["XDG_DATA_HOME"], u.env["XDG_CONFIG_HOME"], u.env["XDG_STATE_HOME"] = u.path("data"), u.path("config"), u.path("state")
	model := func() (string, error) {
		return u.agent("opencode").Resume.Model(t.Context(), u.getenv, u.path("repo"))
	}
	u.database("data/opencode/opencode-a.db")
	if got, err := model(); got != "" || !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("nothing was asked: %q, %v", got, err)
	}
	u.database("data/opencode/opencode-b.db", [3]string{"ses_1", "repo", `{"role":"assistant","providerID":"p","modelID":"used"}`})
	if got, err := model(); got != "p/used" || err != nil {
		t.Errorf("used before: %q, %v", got, err)
	}
	u.write("state/opencode/model.json", `{"recent": [{"providerID": "p", "modelID": "recent"}]}`)
	if got, err := model(); got != "p/recent" || err != nil {
		t.Errorf("chosen before: %q, %v", got, err)
	}
	u.write("config/opencode/opencode.json", `{"model": "p/configured", /* never closed`)
	if got, err := model(); got != "p/recent" || err != nil {
		t.Errorf("a broken configuration: %q, %v", got, err)
	}
	u.write("config/opencode/opencode.json", `{"model": "p/configured", /* x */ "list": [1, 2, ], }`)
	if got, err := model(); got != "p/configured" || err != nil {
		t.Errorf("configured: %q, %v", got, err)
	}
}

// TestMatch: a path is a transcript by its name, and if no link leads to it.
func TestMatch(t *testing.T) {
	u := newUser(t)
	u.write(".qwen/projects/p/chats/1.jsonl", `{}`)
	u.write("elsewhere/chats/1.jsonl", `{}`)
	u.mkdir(".qwen/projects/p/chats/dir.jsonl")
	for link, target := range map[string]string{".qwen/projects/link": "elsewhere", ".qwen/projects/p/chats/link.jsonl": ".qwen/projects/p/chats/1.jsonl"} {
		if err := os.Symlink(u.path(target), u.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	a := u.agent("qwen")
	for name, want := range map[string]bool{
		".qwen/projects/p/chats/1.jsonl":          true,
		".qwen/projects/p/chats/../chats/1.jsonl": true,
		".qwen/projects/p/chats/2.jsonl":          false,
		".qwen/projects/p/chats/dir.jsonl":        false,
		".qwen/projects/p/chats/link.jsonl":       false,
		".qwen/projects/link/chats/1.jsonl":       false,
		".qwen/projects/p/1.jsonl":                false,
		".qwen/../elsewhere/chats/1.jsonl":        false,
		"elsewhere/chats/1.jsonl":                 false,
		".qwen":                                   false,
	} {
		if got := a.Match(u.getenv, u.home+"/"+name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if a.IsDatabase(u.getenv, u.path(".qwen/projects/p/chats/1.jsonl")) {
		t.Error("a file of lines is a database")
	}
	database := u.database(openCode + "opencode.db")
	o := u.agent("opencode")
	for file, want := range map[string]bool{database: true, database + "-wal": true, database + "-shm": false, u.path("x.db"): false} {
		if got := o.IsDatabase(u.getenv, file); got != want {
			t.Errorf("%s is a database: %t", file, got)
		}
	}
}

// TestStat: writing to a database changes the state of its sessions' files.
func TestStat(t *testing.T) {
	u := newUser(t)
	u.write("1.jsonl", "{}")
	if info, err := agents.Stat(u.path("1.jsonl")); err != nil || info.Size() != 2 {
		t.Errorf("%v, %v", info, err)
	}
	u.write("opencode.db", "SQLite format 3\x00")
	session := opencodedb.Path(u.path("opencode.db"), "ses_1")
	if info, err := agents.Stat(session); err != nil || info.Name() != "opencode.db" {
		t.Errorf("%v, %v", info, err)
	}
	u.write("opencode.db-wal", "")
	if info, err := agents.Stat(session); err != nil || info.Name() != "opencode.db" {
		t.Errorf("with an empty log: %v, %v", info, err)
	}
	u.write("opencode.db-wal", "log")
	if info, err := agents.Stat(session); err != nil || info.Name() != "opencode.db-wal" {
		t.Errorf("with a log: %v, %v", info, err)
	}
	if _, err := agents.Stat(u.path("none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}

// TestDirs: new transcripts can appear in these directories.
func TestDirs(t *testing.T) {
	u := newUser(t)
	dirs := func(agent string) string {
		t.Helper()
		all, err := u.agent(agent).Dirs(t.Context(), u.getenv)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			all[i] = strings.TrimPrefix(strings.TrimPrefix(all[i], u.home), "/")
		}
		return strings.Join(all, " ")
	}
	if got := dirs("qwen"); got != "" { // the home directory itself
		t.Errorf("before its first start: %q", got)
	}
	u.write(".qwen/projects/p/chats/1.jsonl", `{}`)
	u.mkdir(".qwen/tmp/p/chats")
	u.mkdir(".qwen/projects/p/chats/deeper")
	if got := dirs("qwen"); got != ".qwen .qwen/projects .qwen/projects/p .qwen/projects/p/chats" {
		t.Errorf("qwen: %q", got)
	}
	u.mkdir(".codex/sessions/2026/01")
	if got := dirs("codex"); got != ".codex .codex/sessions .codex/sessions/2026 .codex/sessions/2026/01" {
		t.Errorf("codex: %q", got)
	}
	u.env["COPILOT_HOME"] = u.path("a/b/c")
	if got := dirs("copilot"); got != "" {
		t.Errorf("of directories that do not exist: %q", got)
	}
	u.env["HOME"] = ""
	if all, err := u.agent("qwen").Dirs(t.Context(), u.getenv); all != nil || err != nil {
		t.Errorf("without a home directory: %q, %v", all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.agent("codex").Dirs(ctx, func(name string) string { return u.home }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := u.agent("codex").Here(ctx, u.getenv, []string{"x"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestBegan: where a conversation began, as far as its file says it.
func TestBegan(t *testing.T) {
	u := newUser(t)
	u.mkdir("repo/.git")
	if err := os.Symlink(u.path("repo"), u.path("link")); err != nil {
		t.Fatal(err)
	}
	u.write(".qwen/projects/p/chats/1.jsonl", `{"type":"x"}`+"\n")
	file := u.path(".qwen/projects/p/chats/1.jsonl")
	a := u.agent("qwen")
	if dir, ok := a.Began(u.getenv, nil, file); ok {
		t.Errorf("it began in %q before it says so", dir)
	}
	u.write(".qwen/projects/p/chats/1.jsonl", `{"type":"x"}`+"\n"+`{"cwd":"HOME/link/sub"}`+"\n")
	dir, ok := a.Began(u.getenv, nil, file)
	if !ok || dir != u.path("repo/sub") {
		t.Errorf("it began in %q, %t", dir, ok)
	}
	for trees, want := range map[string]bool{"repo": true, "link": true, "": false, "repository": false} {
		if got := agents.Belongs(dir, []string{u.path(trees)}); got != want && trees != "" || trees == "" && agents.Belongs(dir, nil) {
			t.Errorf("%s belongs to %q: %t", dir, trees, got)
		}
	}
	if _, ok := a.Began(u.getenv, nil, u.path("none.jsonl")); ok {
		t.Error("a file that does not exist says where it began")
	}
	u.mkdir(".gemini/tmp/p/.project_root")
	for _, gemini := range []string{u.path(".gemini/tmp/p/chats/1.jsonl"), "relative.jsonl"} {
		if dir, ok := u.agent("gemini").Began(u.getenv, nil, gemini); ok {
			t.Errorf("%s began in %q", gemini, dir)
		}
	}
}

// TestResume: how each agent goes on with a session that was written for it.
func TestResume(t *testing.T) {
	u := newUser(t)
	for name, want := range map[string]string{
		"claude-code": "claude --resume ID", "codex": "codex resume ID", "copilot": "copilot --resume=ID", "gemini": "gemini --resume ID", "opencode": "opencode --session ID", "qwen": "qwen --resume ID",
	} {
		a := u.agent(name)
		if got := strings.Join(a.ResumeCommand("ID"), " "); !a.CanResume() || got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"cursor", "pi"} {
		if u.agent(name).CanResume() {
			t.Errorf("%s takes no session that another program wrote", name)
		}
	}
	if got := strings.Join(u.agent("opencode").ImportCommand("/x y.json"), "|"); got != "opencode|import|/x y.json" {
		t.Errorf("the command is %q", got)
	}
	u.env["CLAUDE_CONFIG_DIR"] = u.path("c")
	for name, want := range map[string]string{"claude-code": u.path("c/projects"), "codex": u.path(".codex/sessions"), "copilot": u.path(".copilot/session-state"), "qwen": u.path(".qwen/projects"), "opencode": ""} {
		if got, err := u.agent(name).ResumeDir(u.getenv, u.path("repo")); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, test := range []struct{ projects, want string }{
		{"", ""},
		{`{"projects": {"HOME/other": "other"}}`, ""},
		{`{"projects": {"HOME/repo": "repo-1"}}`, u.path(".gemini/tmp/repo-1")},
		{`{"projects": {"HOME/repo": "../../x"}}`, ""},
		{`{"projects": {"HOME/repo": ""}}`, ""},
		{`{"projects": []}`, ""},
		{`{`, ""},
	} {
		if test.projects != "" {
			u.write(".gemini/projects.json", test.projects)
		}
		got, err := u.agent("gemini").ResumeDir(u.getenv, u.path("repo"))
		if got != test.want || (err == nil) != (test.want != "") || err != nil && !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%s: %q, %v", test.projects, got, err)
		}
	}
}

// TestHasSession finds a session's file by its id, as each agent names it.
func TestHasSession(t *testing.T) {
	files := []string{"/c/projects/p/id-1.jsonl", "/x/sessions/rollout-2026-01-01T00-00-00-id-2.jsonl.zst", "/p/session-state/id-3/events.jsonl", "/o/opencode.db#ses_4", "/q/chats/.jsonl"}
	a := agents.All()[0]
	for id, want := range map[string]string{"id-1": files[0], "id-2": files[1], "id-3": files[2], "ses_4": files[3], "id-5": "", "": "", "events": "/p/session-state/id-3/events.jsonl", "projects": ""} {
		if got, ok := a.HasSession(files, id); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", id, got, ok)
		}
	}
}
