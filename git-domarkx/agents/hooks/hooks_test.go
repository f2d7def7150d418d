package hooks_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

// A user has a home directory and a repository with two work trees.
type user struct {
	home  string
	place agents.Place
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func newUser(t fataler, dir string) *user {
	t.Helper()
	home, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	u := &user{home: home}
	u.place = agents.Place{Trees: []string{u.path("main"), u.path("linked")}, Program: "/opt/my tools/git-domarkx",
		Environ: func(name string) string { return map[string]string{"HOME": home}[name] }}
	return u
}

func (u *user) path(name string) string { return filepath.Join(u.home, name) }

func (u *user) record(t fataler) *hooks.Record {
	t.Helper()
	r, err := hooks.OpenRecord(u.path("state"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (u *user) write(t fataler, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(u.path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (u *user) read(t fataler, name string) string {
	t.Helper()
	data, err := os.ReadFile(u.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func agent(t fataler, name string) hooks.Agent {
	t.Helper()
	a, ok := agents.ByName(name)
	if !ok {
		t.Fatalf("no agent %s", name)
	}
	return hooks.Of(a)
}

// install installs hooks and returns whether a file changed.
func (u *user) install(t fataler, a hooks.Agent, scope agents.Scope, mcp bool) bool {
	t.Helper()
	r := u.record(t)
	changes, err := a.Install(hooks.Request{Scope: scope, MCP: mcp, Place: u.place}, r)
	if err != nil {
		t.Fatal(err)
	}
	return u.apply(t, changes, r.Apply)
}

func (u *user) uninstall(t fataler, a hooks.Agent) bool {
	t.Helper()
	r := u.record(t)
	changes, err := a.Uninstall(u.place, r)
	if err != nil {
		t.Fatal(err)
	}
	return u.apply(t, changes, r.Undo)
}

func (u *user) apply(t fataler, changes []hooks.Change, apply func(hooks.Change) error) bool {
	t.Helper()
	changed := false
	for _, c := range changes {
		changed = changed || c.Changes()
		if err := apply(c); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}

// files returns all files and their contents below the user's home, but for the record.
func (u *user) files(t fataler) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(u.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == u.home || strings.HasPrefix(path, u.path("state")) {
			return err
		}
		if d.IsDir() {
			all[path] = "directory"
			return nil
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryAgent installs the hooks of every agent in every scope where there is nothing, and
// removes them without a trace.
func TestEveryAgent(t *testing.T) {
	for _, known := range agents.All() {
		a := hooks.Of(known)
		for _, scope := range append(a.Hooks.Scopes, "") {
			t.Run(a.Name+" "+string(scope), func(t *testing.T) {
				u := newUser(t, t.TempDir())
				u.write(t, "main/README", "x")
				before := u.files(t)
				changed := u.install(t, a, scope, true)
				if wants := len(a.Hooks.Scopes) > 0 || a.Servers != nil; changed != wants {
					t.Errorf("changed %v", changed)
				}
				if got := a.Installed(u.place); len(a.Hooks.Scopes) > 0 && (len(got) != 1 || scope != "" && got[0] != scope || scope == "" && got[0] != a.Hooks.Scopes[0]) {
					t.Errorf("installed in %v", got)
				}
				for path, text := range u.files(t) {
					if strings.HasSuffix(path, ".json") {
						if _, err := jsontext.New([]byte(text)); err != nil {
							t.Errorf("%s: %v", path, err)
						}
					}
				}
				if u.install(t, a, scope, true) {
					t.Error("installing again changes something")
				}
				for path, text := range u.files(t) { // others write the file, as Claude Code does its state
					if strings.HasSuffix(path, ".json") {
						u.write(t, strings.TrimPrefix(path, u.home), text+"\n")
					}
				}
				u.uninstall(t, a)
				if after := u.files(t); !mapsEqual(before, after) {
					t.Errorf("left behind: %v", after)
				}
				if u.uninstall(t, a) || len(a.Installed(u.place)) > 0 {
					t.Error("something is still installed")
				}
			})
		}
	}
}

func mapsEqual(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// settings draws a settings file with comments, other hooks and odd white space.
func settings(t *rapid.T) string {
	space := func() string {
		return rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\t", "\r\n", " /* c */ ", " // c\n", "\n\n    "}).Draw(t, "space")
	}
	list := func(open, closing string, parts []string) string {
		var b strings.Builder
		b.WriteString(open + space())
		for i, part := range parts {
			b.WriteString(part + space())
			if i < len(parts)-1 || rapid.Bool().Draw(t, "trailing") {
				b.WriteString("," + space())
			}
		}
		return b.String() + closing
	}
	some := func(parts ...string) []string {
		return rapid.Permutation(parts).Draw(t, "order")[:rapid.IntRange(0, len(parts)).Draw(t, "count")]
	}
	hook := func() string {
		return list("{", "}", some(`"type": "command"`, `"command": "echo '{' \" // no comment"`, `"timeout": 1`))
	}
	entry := func() string {
		return list("{", "}", some(`"matcher": "Bash"`, `"hooks": `+list("[", "]", some(hook(), hook()))))
	}
	var members []string
	members = append(members, some(`"permissions": {"allow": ["*"], /* c */}`, `"version": 1`, `"é": null`)...)
	if rapid.Bool().Draw(t, "has hooks") {
		var events []string
		for _, name := range some("Stop", "SessionStart", "stop", "AfterAgent", "mine") {
			events = append(events, `"`+name+`"`+space()+":"+space()+list("[", "]", some(entry(), entry())))
		}
		members = append(members, `"hooks": `+list("{", "}", events))
	}
	return rapid.SampledFrom([]string{"", "\xef\xbb\xbf", "// head\n"}).Draw(t, "head") + list("{", "}", members) + space()
}

// TestInstallAndUninstall checks that uninstalling restores any settings file, and that what others
// add meanwhile stays, as everything else does.
func TestInstallAndUninstall(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{"claude-code": "main/.claude/settings.local.json", "cursor": ".cursor/hooks.json", "gemini": ".gemini/settings.json", "qwen": ".qwen/settings.json"}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		u := newUser(t, dir)
		name := rapid.SampledFrom([]string{"claude-code", "cursor", "gemini", "qwen"}).Draw(t, "agent")
		a, file := agent(t, name), files[name]
		before := settings(t)
		u.write(t, file, before)
		mcp := rapid.Bool().Draw(t, "mcp")
		u.install(t, a, "", mcp)
		installed := u.read(t, file)
		checkOthers(t, before, installed)
		if rapid.Bool().Draw(t, "again") && u.install(t, a, "", mcp) {
			t.Fatal("installing again changes something")
		}
		if rapid.Bool().Draw(t, "edited meanwhile") {
			edited := strings.Replace(installed, "{", `{"theirs": [1, /* x */ 2], `, 1)
			u.write(t, file, edited)
			u.uninstall(t, a)
			after := u.read(t, file)
			if strings.Contains(after, "git-domarkx") || !strings.Contains(after, `{"theirs": [1, /* x */ 2]`) {
				t.Fatalf("%q became %q", edited, after)
			}
			checkOthers(t, before, after)
			return
		}
		u.uninstall(t, a)
		if after := u.read(t, file); after != before {
			t.Fatalf("%q became %q and then %q", before, installed, after)
		}
	})
}

// checkOthers checks that the members and hooks of others have the same bytes in both texts.
func checkOthers(t *rapid.T, before, after string) {
	was, err := jsontext.New([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	is, err := jsontext.New([]byte(after))
	if err != nil {
		t.Fatalf("%q: %v", after, err)
	}
	same := func(a, b *hujson.Value) bool {
		return b != nil && before[a.StartOffset:a.EndOffset] == after[b.StartOffset:b.EndOffset]
	}
	for _, name := range jsontext.Names(was.Get()) {
		if name != "hooks" && !same(was.Get(name), is.Get(name)) {
			t.Fatalf("%s changed: %q became %q", name, before, after)
		}
	}
	for _, event := range jsontext.Names(was.Get("hooks")) {
		others, now := jsontext.Items(was.Get("hooks", event)), jsontext.Items(is.Get("hooks", event))
		for i, item := range others {
			if len(now) <= i || !same(item, now[i]) {
				t.Fatalf("a hook of %s changed: %q became %q", event, before, after)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	a := agent(t, "gemini")
	for text, want := range map[string]string{
		"[]":                   "settings.json:1:1: expected an object; nothing was changed",
		"null\n":               "settings.json:1:1: expected an object",
		"{\n\"a\": }":          "settings.json:2:6: invalid character '}' at start of value",
		`{"hooks": []}`:        "settings.json:1:11: expected an object at hooks",
		`{"mcpServers": true}`: "settings.json:1:16: expected an object at mcpServers",
		`{"mcpServers": {"domarkx": {"command": "other"}}}`: "there is another MCP server with the name domarkx",
	} {
		u := newUser(t, t.TempDir())
		u.write(t, ".gemini/settings.json", text)
		_, err := a.Install(hooks.Request{MCP: true, Place: u.place}, u.record(t))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
	if _, err := a.ScopeOf(agents.Local); err == nil || !strings.Contains(err.Error(), "expected user or project") {
		t.Errorf("a scope that the agent has not: %v", err)
	}
}

func TestLinksAndModes(t *testing.T) {
	a := agent(t, "qwen")
	u := newUser(t, t.TempDir())
	u.write(t, "dotfiles/qwen.json", "{\"a\": 1}\n")
	if err := os.Chmod(u.path("dotfiles/qwen.json"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(u.path(".qwen"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles/qwen.json", u.path(".qwen/settings.json")); err != nil {
		t.Fatal(err)
	}
	u.install(t, a, "", false)
	if info, err := os.Lstat(u.path(".qwen/settings.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if info, err := os.Stat(u.path("dotfiles/qwen.json")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if !strings.Contains(u.read(t, "dotfiles/qwen.json"), "agent hook qwen") {
		t.Error("nothing was installed")
	}
	u.uninstall(t, a)
	if got := u.read(t, "dotfiles/qwen.json"); got != "{\"a\": 1}\n" {
		t.Errorf("restored: %q", got)
	}
	if err := os.Chmod(u.path("dotfiles/qwen.json"), 0o400); err != nil {
		t.Fatal(err)
	}
	r := u.record(t)
	changes, err := a.Install(hooks.Request{Place: u.place}, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(changes[0]); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("writing a read-only file: %v", err)
	}
}

// TestOtherWriter checks that a file that changed after it was read is not overwritten.
func TestOtherWriter(t *testing.T) {
	a := agent(t, "gemini")
	for name, before := range map[string]string{"changed": "{}", "created": ""} {
		u := newUser(t, t.TempDir())
		if before != "" {
			u.write(t, ".gemini/settings.json", before)
		}
		r := u.record(t)
		changes, err := a.Install(hooks.Request{Place: u.place}, r)
		if err != nil {
			t.Fatal(err)
		}
		u.write(t, ".gemini/settings.json", `{"theirs": 1}`)
		if err := r.Apply(changes[0]); !errors.Is(err, hooks.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		if got := u.read(t, ".gemini/settings.json"); got != `{"theirs": 1}` {
			t.Errorf("%s: their file became %q", name, got)
		}
		entries, err := os.ReadDir(u.path(".gemini"))
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: left behind: %v %v", name, entries, err)
		}
	}
}

func TestCodexConfig(t *testing.T) {
	a := agent(t, "codex")
	for _, before := range []string{"", "model = \"o\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"", "[a]\r\nb = 1\r\n", "# only a comment\n"} {
		u := newUser(t, t.TempDir())
		u.write(t, ".codex/config.toml", before)
		u.install(t, a, "", true)
		text := u.read(t, ".codex/config.toml")
		if !strings.HasPrefix(text, before) || !strings.Contains(text, "[mcp_servers.domarkx]") {
			t.Errorf("%q became %q", before, text)
		}
		// Codex adds to the file, for example what the user reviewed.
		u.write(t, ".codex/config.toml", text+"\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n")
		u.uninstall(t, a)
		after := u.read(t, ".codex/config.toml")
		if strings.Contains(after, "domarkx") || !strings.HasPrefix(after, before) || !strings.Contains(after, "trust_level") {
			t.Errorf("%q came back as %q", text, after)
		}
	}
	u := newUser(t, t.TempDir())
	u.write(t, ".codex/config.toml", "a = 1\nb = [\n")
	if _, err := a.Install(hooks.Request{MCP: true, Place: u.place}, u.record(t)); err == nil || !strings.Contains(err.Error(), "config.toml:") {
		t.Errorf("a file that is no TOML: %v", err)
	}
}

// TestReviewed checks that a review of Codex is read and never written.
func TestReviewed(t *testing.T) {
	a := agent(t, "codex")
	u := newUser(t, t.TempDir())
	u.install(t, a, "", false)
	if a.Reviewed(u.place) {
		t.Error("reviewed before the user did it")
	}
	if _, err := os.Stat(u.path(".codex/config.toml")); err == nil {
		t.Error("the configuration, which holds what the user reviewed, was written")
	}
	var config bytes.Buffer
	for _, event := range []string{"session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop"} {
		config.WriteString("[hooks.state.'" + u.path(".codex/hooks.json") + ":" + event + ":0:0']\ntrusted_hash = \"abc\"\n")
	}
	u.write(t, ".codex/config.toml", config.String())
	if !a.Reviewed(u.place) {
		t.Error("not reviewed although the user did it")
	}
}

// FuzzInstall checks that no settings file makes the hooks unreadable or irremovable.
func FuzzInstall(f *testing.F) {
	f.Add([]byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x agent hook gemini"}]}]}}`))
	f.Add([]byte("{\n// c\n\"hooks\": {\"AfterAgent\": [{\"command\": \"git-domarkx agent hook gemini\"},],},}"))
	f.Add([]byte(" \n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		u := newUser(t, dir)
		if err := os.RemoveAll(u.path("state")); err != nil {
			t.Fatal(err)
		}
		u.write(t, ".gemini/settings.json", string(data))
		a := agent(t, "gemini")
		r := u.record(t)
		changes, err := a.Install(hooks.Request{Place: u.place}, r)
		if err != nil {
			return
		}
		u.apply(t, changes, r.Apply)
		if got := a.Installed(u.place); len(got) != 1 {
			t.Fatalf("%q: installed in %v", data, got)
		}
		u.uninstall(t, a)
		if after := u.read(t, ".gemini/settings.json"); after != string(data) {
			t.Fatalf("%q came back as %q", data, after)
		}
	})
}
