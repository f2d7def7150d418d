package gitrepository_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	gitrepository "github.com/domarkx/domarkx/plugins/git_repository"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/process"
)

// TestMain runs the test binary as the supervisor of clones.
func TestMain(m *testing.M) {
	if code, supervised := process.Supervise(); supervised {
		os.Exit(code)
	}
	os.Exit(shorttest.Main(m))
}

func value(t *testing.T, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func call(t *testing.T, tool, arguments string) domarkx.Call {
	t.Helper()
	return domarkx.Call{Tool: tool, Arguments: value(t, arguments)}
}

const signed = `"author": "Ann <ann@example.org>", "date": "2026-01-31T12:00:00Z"`

// isolate makes git ignore the user's configuration.
func isolate(t *testing.T) {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Ann")
		t.Setenv("GIT_"+who+"_EMAIL", "ann@example.org")
	}
}

// git runs git like a user.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// upstream creates a repository to clone.
func upstream(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "trunk")
	write(t, filepath.Join(dir, "f"), "one\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	git(t, dir, "tag", "v1")
	git(t, dir, "checkout", "-q", "-b", "side")
	write(t, filepath.Join(dir, "g"), "two\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "second")
	git(t, dir, "checkout", "-q", "trunk")
	return dir
}

func open(t *testing.T, env domarkx.Env) domarkx.Resource {
	t.Helper()
	env.Workspace, env.Resource = "w", "r"
	env.Warn = func(m string) { t.Log(m) }
	if env.Dir == "" {
		env.Dir = t.TempDir()
	}
	r, err := gitrepository.New().Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(context.Background()) })
	return r
}

func pathOf(r domarkx.Resource) string { return r.(domarkx.HostPath).Path() }

func run(t *testing.T, r domarkx.Resource, tool, arguments string) string {
	t.Helper()
	result, err := r.Execute(t.Context(), call(t, tool, arguments))
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	return result.Value.JSON()
}

func refused(t *testing.T, r domarkx.Resource, code, tool, arguments string) {
	t.Helper()
	_, err := r.Execute(t.Context(), call(t, tool, arguments))
	var e *domarkx.ToolError
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%s %s: %v, expected %s", tool, arguments, err, code)
	}
}

func commit(t *testing.T, r domarkx.Resource, store *plugintest.Memory) string {
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

func TestConformance(t *testing.T) {
	isolate(t)
	suite := plugintest.Suite{
		Plugin:   gitrepository.New(),
		ReadOnly: []string{"read_file", "list_dir", "search"},
		Config:   value(t, `{}`),
		Changes: []domarkx.Call{
			call(t, "write_file", `{"path": "a.txt", "content": "one\n"}`),
			call(t, "commit", `{"message": "first\n\nbody", `+signed+`}`),
			call(t, "write_file", `{"path": "b.txt", "content": "two\n"}`),
			call(t, "checkout", `{"ref": "side", "create": true, `+signed+`}`),
			call(t, "commit", `{"message": "second", "paths": ["b.txt"], `+signed+`}`),
			call(t, "checkout", `{"ref": "main", `+signed+`}`),
			call(t, "branch", `{"name": "third", "start": "side", `+signed+`}`),
			call(t, "branch", `{"name": "third", "delete": true, "force": true, `+signed+`}`),
		},
		Read: call(t, "status", `{}`),
		Refused: map[string]domarkx.Call{
			domarkx.CodeNotFound: call(t, "checkout", `{"ref": "none", `+signed+`}`),
			domarkx.CodeRefused:  call(t, "write_file", `{"path": ".git/config", "content": ""}`),
			domarkx.CodeInvalid:  call(t, "branch", `{"name": "-x", `+signed+`}`),
			domarkx.CodeFailed:   call(t, "branch", `{"name": "unborn", `+signed+`}`),
		},
		Invalid: []jsonvalue.Value{
			value(t, `{"url": "https://example.org/x", "path": "x"}`), value(t, `{"branch": "x"}`), value(t, `{"path": 1}`), value(t, `{"url": ""}`),
			value(t, `{"url": "https://example.org/x", "branch": "x", "ref": "y"}`),
		},
		Costly: 6,
	}
	plugintest.Run(t, suite)
	t.Run("path", func(t *testing.T) {
		suite.Config = value(t, `{"path": "repo"}`)
		suite.Changes = suite.Changes[:4] // the place of the files is what differs
		plugintest.Run(t, suite)
	})
}

// TestStateIsExact restores every state that a work tree and an index can have.
func TestStateIsExact(t *testing.T) {
	isolate(t)
	one := open(t, domarkx.Env{Config: value(t, `{}`)})
	run(t, one, "write_file", `{"path": ".gitignore", "content": "ignored\n"}`)
	dir := pathOf(one)
	for _, name := range []string{"kept", "staged", "changed", "both", "gone", "assumed", "skipped"} {
		write(t, filepath.Join(dir, name), name+"\n")
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "base")
	git(t, dir, "checkout", "-q", "-b", "other")
	write(t, filepath.Join(dir, "kept"), "theirs\n")
	git(t, dir, "commit", "-qam", "theirs")
	git(t, dir, "checkout", "-q", "main")
	write(t, filepath.Join(dir, "kept"), "ours\n")
	git(t, dir, "commit", "-qam", "ours")
	write(t, filepath.Join(dir, "stash"), "x\n")
	git(t, dir, "stash", "-u", "-q")
	if err := exec.Command("git", "-C", dir, "merge", "-q", "other").Run(); err == nil {
		t.Fatal("no conflict")
	}
	write(t, filepath.Join(dir, "staged"), "new\n")
	write(t, filepath.Join(dir, "both"), "new\n")
	git(t, dir, "add", "staged", "both")
	write(t, filepath.Join(dir, "both"), "newer\n")
	write(t, filepath.Join(dir, "changed"), "new\n")
	write(t, filepath.Join(dir, "untracked"), "new\n")
	write(t, filepath.Join(dir, "ignored"), "new\n")
	write(t, filepath.Join(dir, "intended"), "new\n")
	git(t, dir, "add", "-N", "intended")
	git(t, dir, "update-index", "--assume-unchanged", "assumed")
	git(t, dir, "update-index", "--skip-worktree", "skipped")
	if err := errors.Join(os.Remove(filepath.Join(dir, "gone")), os.Mkdir(filepath.Join(dir, "empty"), 0o700)); err != nil {
		t.Fatal(err)
	}
	show := func(dir string) string {
		return strings.Join([]string{
			git(t, dir, "status", "--porcelain=v2", "--branch", "--ignored", "--untracked-files=all"), git(t, dir, "ls-files", "--stage", "-v"),
			git(t, dir, "log", "--all", "--format=%H %s"), git(t, dir, "reflog"), git(t, dir, "stash", "list"), git(t, dir, "diff"), git(t, dir, "diff", "--cached"),
			git(t, dir, "fsck", "--strict"),
		}, "\n")
	}
	for _, format := range []string{"2", "4"} {
		git(t, dir, "update-index", "--index-version", format)
		before := show(dir)
		store := plugintest.NewMemory()
		version := commit(t, one, store)
		two := open(t, domarkx.Env{Config: value(t, `{}`)})
		write(t, filepath.Join(pathOf(two), "other"), "is removed")
		if err := two.Load(t.Context(), store, version); err != nil {
			t.Fatal(err)
		}
		if changed, err := two.Changed(t.Context()); changed || err != nil {
			t.Errorf("changed %v, %v", changed, err)
		}
		if after := show(pathOf(two)); after != before {
			t.Errorf("index version %s: \n%s\nexpected\n%s", format, after, before)
		}
		git(t, pathOf(two), "status") // refreshes the index
		if again := commit(t, two, store); again != version {
			t.Error("another version of the same state")
		}
		if status, _ := two.Execute(t.Context(), call(t, "status", `{}`)); !strings.Contains(status.Value.JSON(), `"UU"`) && !strings.Contains(status.Value.JSON(), `"U"`) {
			t.Error(status.Value.JSON())
		}
	}
}

func TestTools(t *testing.T) {
	isolate(t)
	r := open(t, domarkx.Env{Config: value(t, `{}`)})
	for _, c := range []struct{ tool, arguments, want string }{
		{"status", `{}`, `{"branch": "main", "commit": null, "files": []}`},
		{"log", `{}`, `{"commits": []}`},
		{"write_file", `{"path": "a", "content": "1\n"}`, `{"bytes": 2}`},
		{"status", `{}`, `{"branch": "main", "commit": null, "files": [{"path": "a", "index": "?", "work_tree": "?"}]}`},
		{"commit", `{"message": "first", ` + signed + `}`, `{"branch": "main", "commit": "1ac8fe1"}`},
		{"write_file", `{"path": "a", "content": "2\n"}`, `{"bytes": 2}`},
		{"diff", `{}`, `{"output": "diff --git a/a b/a\nindex d00491f..0cfbf08 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"}`},
		{"diff", `{"staged": true}`, `{"output": ""}`},
		{"diff", `{"paths": ["b"]}`, `{"output": ""}`},
		{"checkout", `{"paths": ["a"]}`, `{"branch": "main", "commit": "1ac8fe1"}`},
		{"read_file", `{"path": "a"}`, `{"content": "1\n"}`},
		{"checkout", `{"ref": "side", "create": true}`, `{"branch": "side", "commit": "1ac8fe1"}`},
		{"checkout", `{"ref": "HEAD~0"}`, `{"branch": null, "commit": "1ac8fe1"}`},
		{"branch", `{}`, `{"branches": [{"name": "main", "commit": "1ac8fe1", "current": false}, {"name": "side", "commit": "1ac8fe1", "current": false}]}`},
		{"log", `{}`, `{"commits": [{"commit": "1ac8fe1", "parents": [], "date": "2026-01-31T12:00:00+00:00", "author": "Ann <ann@example.org>", "subject": "first"}]}`},
		{"search", `{"pattern": "a", "path": "."}`, ``},
	} {
		got := run(t, r, c.tool, c.arguments)
		first := git(t, pathOf(r), "rev-list", "--all", "--max-count=1")
		if first != "" {
			got = strings.ReplaceAll(got, first, "1ac8fe1")
			got = strings.ReplaceAll(got, "Z\", \"author", "+00:00\", \"author")
		}
		if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(c.want), "") && c.want != "" {
			t.Errorf("%s %s:\n%s, expected\n%s", c.tool, c.arguments, got, c.want)
		}
		if strings.Contains(got, ".git/") {
			t.Errorf("%s %s: shows .git: %s", c.tool, c.arguments, got)
		}
	}
	for _, c := range [][3]string{
		{domarkx.CodeNotFound, "checkout", `{"ref": "--orphan"}`}, {domarkx.CodeInvalid, "checkout", `{"ref": "-f", "create": true}`},
		{domarkx.CodeNotFound, "diff", `{"from": "--output=/tmp/x"}`}, {domarkx.CodeNotFound, "log", `{"ref": "--all"}`},
		{domarkx.CodeRefused, "diff", `{"paths": ["../x"]}`}, {domarkx.CodeRefused, "commit", `{"message": "x", "paths": ["/etc/passwd"]}`},
		{domarkx.CodeInvalid, "commit", `{"message": "x", "author": "Ann"}`}, {domarkx.CodeInvalid, "commit", `{"message": "x", "date": "yesterday"}`},
		{domarkx.CodeInvalid, "checkout", `{}`}, {domarkx.CodeFailed, "branch", `{"name": "main"}`}, {domarkx.CodeInvalid, "branch", `{"name": "a..b"}`},
		{domarkx.CodeRefused, "read_file", `{"path": ".git/HEAD"}`}, {domarkx.CodeRefused, "delete", `{"path": ".git"}`}, {domarkx.CodeRefused, "move", `{"from": "a", "to": ".git/hooks/post-commit"}`},
	} {
		refused(t, r, c[0], c[1], c[2])
	}
}

func TestClone(t *testing.T) {
	isolate(t)
	from := "file://" + upstream(t)
	allow := domarkx.Allow{URLs: []string{"file:///"}}
	for config, want := range map[string]string{
		``: `"branch":"trunk"`, `, "branch": "side"`: `"branch":"side"`, `, "ref": "v1"`: `"branch":null`, `, "ref": "refs/heads/side"`: `"branch":null`,
	} {
		r := open(t, domarkx.Env{Config: value(t, `{"url": "`+from+`"`+config+`}`), Allow: allow})
		if got := run(t, r, "status", `{}`); !strings.Contains(got, want) || !strings.Contains(got, `"files":[]`) {
			t.Errorf("%s: %s", config, got)
		}
		git(t, pathOf(r), "fsck", "--strict")
		run(t, r, "checkout", `{"ref": "side"}`)
		if got := run(t, r, "read_file", `{"path": "g"}`); !strings.Contains(got, "two") {
			t.Error(got)
		}
	}
	store := plugintest.NewMemory()
	r := open(t, domarkx.Env{Config: value(t, `{"url": "`+from+`"}`), Allow: allow})
	version := commit(t, r, store)
	// Another machine may lack both the permission and the other repository.
	there := open(t, domarkx.Env{Config: value(t, `{"url": "`+from+`"}`)})
	if err := there.Load(t.Context(), store, version); err != nil {
		t.Fatal(err)
	}
	if got := run(t, there, "log", `{"ref": "origin/side"}`); !strings.Contains(got, "second") {
		t.Error(got)
	}
	for _, c := range []struct {
		url, branch string
		allow       []string
		message     string
	}{
		{from, "", nil, "domarkx.allowURL"},
		{from, "", []string{from[:len(from)-1]}, "domarkx.allowURL"},
		{"ext::sh -c 'touch " + filepath.Join(t.TempDir(), "x") + "'", "", []string{"ext::"}, "expected a URL"},
		{"http://example.org/x", "", []string{"http://"}, "expected a URL"},
		{"--upload-pack=x", "", []string{"--"}, "expected a URL"},
		{"ssh://-oProxyCommand=x/y", "", []string{"ssh://"}, "begins with"},
		{"https://example.org/a/../b", "", []string{"https://example.org/a/"}, `".."`},
		{"https://example.org/a/%2e%2e/b", "", []string{"https://example.org/a/"}, `".."`},
		{"https://allowed.org@example.org/a", "", []string{"https://allowed.org"}, "domarkx.allowURL"},
		{"https://secret:pass@example.org/a", "", nil, "cloning \"https://example.org/a\""},
		{"file:///nowhere/at/all", "", []string{"file:///"}, "nowhere"},
		{from, "none", []string{"file://"}, `branch "none": not found`},
	} {
		config := jsonvalue.ObjectValue(jsonvalue.Member{Name: "url", Value: jsonvalue.StringValue(c.url)})
		if c.branch != "" {
			config = config.With("branch", jsonvalue.StringValue(c.branch))
		}
		r := open(t, domarkx.Env{Config: config, Allow: domarkx.Allow{URLs: c.allow}})
		_, err := r.Execute(t.Context(), call(t, "status", `{}`))
		if err == nil || !strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), "pass") {
			t.Errorf("%s: %v, expected %q", c.url, err, c.message)
		}
	}
}

func TestPath(t *testing.T) {
	isolate(t)
	top := t.TempDir()
	git(t, top, "init", "-q")
	nested := filepath.Join(top, "nested")
	if err := os.Mkdir(nested, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, nested, "init", "-q", "-b", "main")
	write(t, filepath.Join(top, "plain", "f"), "x")
	write(t, filepath.Join(top, "linked", ".git"), "gitdir: ../.git\n")
	if err := errors.Join(os.Mkdir(filepath.Join(top, "stolen"), 0o755), os.Symlink("../.git", filepath.Join(top, "stolen", ".git"))); err != nil {
		t.Fatal(err)
	}
	env := func(path string) domarkx.Env {
		return domarkx.Env{Config: value(t, `{"path": "`+path+`"}`), WorkTree: top, Forbidden: []string{filepath.Join(top, ".git")}, Dir: t.TempDir()}
	}
	r := open(t, env("nested"))
	if pathOf(r) != nested {
		t.Errorf("path %q", pathOf(r))
	}
	run(t, r, "status", `{}`)
	private := env("nested")
	private.Private = true
	if p := pathOf(open(t, private)); strings.HasPrefix(p, top) {
		t.Errorf("private path %q", p)
	}
	for path, message := range map[string]string{
		"plain": "git init", "linked": "not a directory", "stolen": "the repository that the session is in", ".": "the repository that the session is in", ".git": ".git", "../x": "outside",
	} {
		r, err := gitrepository.New().Open(t.Context(), env(path))
		if err == nil {
			_, err = r.Execute(t.Context(), call(t, "status", `{}`))
			r.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, expected %q", path, err, message)
		}
	}
}

// TestKilledGit checks that the tools work after a git was killed.
func TestKilledGit(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	r := open(t, domarkx.Env{Config: value(t, `{}`), Dir: dir})
	run(t, r, "write_file", `{"path": "f", "content": "1\n"}`)
	run(t, r, "commit", `{"message": "one"}`)
	store := plugintest.NewMemory()
	version := commit(t, r, store)
	write(t, filepath.Join(dir, "running"), "")
	for _, lock := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"} {
		write(t, filepath.Join(pathOf(r), ".git", lock), "")
	}
	if again := commit(t, r, store); again != version {
		t.Error("locks make another version")
	}
	run(t, r, "write_file", `{"path": "f", "content": "2\n"}`)
	run(t, r, "commit", `{"message": "two"}`)
}

// TestReplay checks that calls with recorded author and date give the same commits again.
func TestReplay(t *testing.T) {
	isolate(t)
	var versions []string
	var complete []domarkx.Call
	for range 2 {
		r := open(t, domarkx.Env{Config: value(t, `{}`)})
		calls := complete
		if calls == nil {
			for _, c := range []domarkx.Call{call(t, "write_file", `{"path": "f", "content": "1\n"}`), call(t, "commit", `{"message": "one"}`), call(t, "checkout", `{"ref": "x", "create": true}`)} {
				var err error
				if c.Arguments, err = r.(domarkx.ArgumentDefaulter).Defaults(t.Context(), c.Tool, c.Arguments); err != nil {
					t.Fatal(err)
				}
				calls = append(calls, c)
				if _, err := r.Execute(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			complete = calls
		} else {
			for _, c := range calls {
				if _, err := r.Execute(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
		}
		versions = append(versions, commit(t, r, plugintest.NewMemory()))
	}
	if versions[0] != versions[1] {
		t.Errorf("%q", versions)
	}
	if who, _ := complete[1].Arguments.Get("author"); who.Text() != "Ann <ann@example.org>" {
		t.Error(who.Text())
	}
}
