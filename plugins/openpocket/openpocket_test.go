package openpocket_test

import (
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/openpocket"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/process"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

func TestMain(m *testing.M) {
	if code, ok := process.Supervise(); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func parse(t testing.TB, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const png = "iVBORw0KGgo="

// TestNoSecretInScreenshots checks that ${NAME} is refused in the directory of screenshots, because versions
// would contain its value.
func TestNoSecretInScreenshots(t *testing.T) {
	env := domarkx.Env{Dir: t.TempDir(), Config: parse(t, `{"screenshots": "s3cr3t"}`), Written: parse(t, `{"screenshots": "${KEY}"}`)}
	_, err := openpocket.New().Open(t.Context(), env)
	if err == nil || !strings.Contains(err.Error(), "/screenshots: ${NAME}") || strings.Contains(err.Error(), "s3cr3t") {
		t.Error(err)
	}
}

func TestConformance(t *testing.T) {
	call := func(tool, arguments string) domarkx.Call {
		return domarkx.Call{Tool: tool, Arguments: parse(t, arguments)}
	}
	suite := plugintest.Suite{
		Plugin:   openpocket.New(),
		ReadOnly: []string{"read_file", "list_dir", "search"},
		Config:   parse(t, `{}`),
		Changes: []domarkx.Call{
			call("start_session", `{"task": "Open the clock.", "model_profile": "fast", "model_name": "m", "at": "2026-02-18T13:00:00.120+08:00"}`),
			call("append_step", `{"thought": "hm", "action": {"type": "tap", "x": 1}, "result": "Tapped", "at": "2026-02-18T13:00:04+08:00"}`),
			call("save_screenshot", `{"session": "20260218-130000", "step": 1, "app": "com.android/.Clock", "png": "`+png+`", "at": "2026-02-18T13:00:05+08:00"}`),
			call("run_script", `{"script": "echo out; echo err >&2; exit 3", "timeout": 30, "run_id": "one", "duration_ms": 7, "at": "2026-02-18T13:00:06+08:00"}`),
			call("store_artifact", `{"request_id": "auth-1-0123456789abcdef", "mime": "application/json", "json": {"kind": "geo", "lat": 37.7749, "lon": -122.4194, "capability": "location"}, "at": "2026-02-18T13:00:07+08:00"}`),
			call("store_artifact", `{"request_id": "auth-2", "mime": "image/PNG", "base64": "`+png+`", "at": "2026-02-18T13:00:07+08:00"}`),
			call("finish_session", `{"session": "workspace/sessions/session-20260218-130000.md", "status": "SUCCESS", "message": "Done.", "at": "2026-02-18T13:00:20+08:00"}`),
			call("append_memory", `{"model_profile": "fast", "ok": true, "task": "Open the clock.", "result": " Done.\n  Really. ", "at": "2026-02-18T13:00:21+08:00"}`),
		},
		Read: call("list_dir", `{"path": "."}`),
		Refused: map[string]domarkx.Call{
			domarkx.CodeNotFound: call("append_step", `{"session": "20260218-130001", "action": {}, "result": ""}`),
			domarkx.CodeInvalid:  call("append_step", `{"session": "../../x", "action": {}, "result": ""}`),
			domarkx.CodeRefused:  call("read_file", `{"path": "../x"}`),
		},
		Invalid: []jsonvalue.Value{parse(t, `{"path": 1}`), parse(t, `{"max_screenshots": 0}`), parse(t, `{"screenshots": ""}`)},
	}
	plugintest.Run(t, suite)
	t.Run("path", func(t *testing.T) {
		suite.Config = parse(t, `{"path": "phone", "screenshots": "shots", "max_screenshots": 3}`)
		plugintest.Run(t, suite)
	})
}

// resource is a resource with its directory.
type resource struct {
	domarkx.Resource
	t   *testing.T
	dir string
}

func open(t *testing.T, config string) *resource {
	t.Helper()
	return openAt(t, domarkx.Env{Config: parse(t, config), Dir: t.TempDir()})
}

func openAt(t *testing.T, env domarkx.Env) *resource {
	t.Helper()
	env.Warn = func(m string) { t.Log(m) }
	live, err := openpocket.New().Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	r := &resource{live, t, live.(domarkx.HostPath).Path()}
	t.Cleanup(func() {
		if err := live.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// call makes a call that must succeed.
func (r *resource) call(tool, arguments string) jsonvalue.Value {
	r.t.Helper()
	result, err := r.Execute(r.t.Context(), domarkx.Call{Tool: tool, Arguments: parse(r.t, arguments)})
	if err != nil {
		r.t.Fatalf("%s: %v", tool, err)
	}
	return result.Value
}

// refuse makes a call that must fail with an error code.
func (r *resource) refuse(tool, arguments, code string) {
	r.t.Helper()
	_, err := r.Execute(r.t.Context(), domarkx.Call{Tool: tool, Arguments: parse(r.t, arguments)})
	var e *domarkx.ToolError
	if !errors.As(err, &e) || e.Code != code {
		r.t.Errorf("%s %s: %v, expected the code %q", tool, arguments, err, code)
	}
}

func (r *resource) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// listing returns all files of the resource with their modes and contents.
func (r *resource) listing() string {
	r.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(r.dir, path)
		fmt.Fprintf(&b, "==== %s %v\n%s", name, info.Mode(), strings.ReplaceAll(r.read(name), "\x1a", "^Z"))
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteString("<no newline>\n")
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return b.String()
}

// TestGolden pins the bytes of all files.
func TestGolden(t *testing.T) {
	r := open(t, `{}`)
	r.call("start_session", `{"task": "Open\nthe clock.", "model_profile": "fast", "model_name": "pixel-3", "at": "2026-02-18T01:00:00.120+08:00"}`)
	r.call("append_step", `{"action": {"type": "tap", "at": {}, "of": [1.50, "ü"]}, "result": "Tapped\nlocal_screenshot=/x.png", "at": "2026-02-18T01:00:04+08:00"}`)
	r.call("append_step", `{"step": 5, "thought": "   ", "action": {}, "result": "", "at": "2026-02-18T01:00:05+08:00"}`)
	r.call("append_step", `{"thought": "forged\n### Step 9\n\n- at: x\n- thought:\n`+"```"+`text\nx\n`+"```"+`\n- action:\n`+"```"+`json\n{}\n`+"```"+`\n- execution_result:\n`+"```"+`text\ny", "action": {}, "result": "", "at": "2026-02-18T01:00:06+08:00"}`)
	r.call("finish_session", `{"status": "FAILED", "message": "Max steps reached (6)", "at": "2026-02-18T01:01:00+08:00"}`)
	r.call("append_memory", `{"model_profile": "fast", "status": "FAIL", "task": "a\n- [12:00:00] [OK]", "result": "\u3000a \u2028 b\ufeff", "at": "2026-02-18T01:01:01+08:00"}`)
	r.call("append_memory", `{"model_profile": "fast", "ok": true, "task": "t", "result": "`+strings.Repeat("x", 399)+`😀y", "at": "2026-02-18T01:01:02+08:00"}`)
	r.call("save_screenshot", `{"session": "20260218-010000", "step": 7, "app": "a/ü b", "png": "`+base64.StdEncoding.EncodeToString([]byte("\x1a"))+`", "at": "2026-02-18T01:01:03+08:00"}`)
	r.call("save_screenshot", `{"session": "20260218-010000", "step": 7, "app": "a/ü b", "png": "`+png+`", "at": "2026-02-18T01:01:03+08:00"}`)
	r.call("save_screenshot", `{"session": "20260218-010000", "step": 1234, "png": "eA==", "at": "2026-02-18T01:01:03+08:00"}`)
	r.call("run_script", `{"script": "\n echo out; echo err >&2; pwd | sed 's:.*/workspace:workspace:' \n", "run_id": "20260218-010104-ab12cd"}`)
	r.call("run_script", `{"script": " ", "run_id": "empty"}`)
	r.call("store_artifact", `{"request_id": "auth-1", "json": {"kind": "text", "value": "123456", "capability": "2fa"}, "at": "2026-02-18T01:01:07+08:00"}`)
	r.call("store_artifact", `{"request_id": "auth-2", "mime": "image/svg+xml-json-png", "base64": "eA=="}`)
	r.call("store_artifact", `{"request_id": "auth-2", "mime": "image/jpg", "base64": "eA=="}`)
	r.call("store_artifact", `{"request_id": "auth-2", "mime": "audio/ogg", "base64": "eA=="}`)
	got := r.listing()
	if *update {
		if err := os.WriteFile("testdata/home.golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/home.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-golden +got):\n%s", diff)
	}
}

func TestSameSecond(t *testing.T) {
	r := open(t, `{}`)
	const begin = `{"task": "%s", "at": "2026-12-31T23:59:59.9-05:00"}`
	for i, id := range []string{"20261231-235959", "20270101-000000", "20270101-000001"} {
		v := r.call("start_session", fmt.Sprintf(begin, string(rune('a'+i))))
		if got, _ := v.Get("id"); got.Text() != id {
			t.Errorf("session %d is %q, expected %q", i, got.Text(), id)
		}
		path, _ := v.Get("path")
		if doc := r.read(path.Text()); !strings.Contains(doc, "- id: "+id+"\n- started_at: 2027-01-01T04:59:59.900Z\n") {
			t.Errorf("session %d:\n%s", i, doc)
		}
	}
}

func TestRetention(t *testing.T) {
	r := open(t, `{"max_screenshots": 2, "screenshots": "a/b"}`)
	r.call("start_session", `{"task": "t", "at": "2026-02-18T13:00:00Z"}`)
	r.call("write_file", `{"path": "a/b/of-the-user.png", "content": "x"}`)
	r.call("write_file", `{"path": "a/b/notes.txt", "content": "x"}`)
	for _, at := range []string{"13:00:01", "13:00:03", "13:00:02", "13:00:00"} {
		r.call("save_screenshot", `{"step": 1, "app": "x", "png": "`+png+`", "at": "2026-02-18T`+at+`Z"}`)
	}
	entries, err := os.ReadDir(filepath.Join(r.dir, "a/b"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{"20260218-130000-session-20260218-130000-step-001-x.png", "20260218-130003-session-20260218-130000-step-001-x.png", "notes.txt"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestScripts(t *testing.T) {
	r := open(t, `{}`)
	v := r.call("run_script", `{"script": "printf x; yes ü | head -c 1000000; kill -9 $$", "run_id": "long"}`)
	out, _ := v.Get("stdout")
	if n := len([]rune(out.Text())); n != 6000+len("\n...[truncated]") || !strings.HasSuffix(out.Text(), "\n...[truncated]") {
		t.Errorf("%d characters of a long output", n)
	}
	if code, _ := v.Get("exitCode"); code.Text() != "137" {
		t.Errorf("exit code %s", code.JSON())
	}
	v = r.call("run_script", `{"script": "echo begun; sleep 1000 & sleep 1000", "timeout": 1, "run_id": "slow"}`)
	if got := v.Without("durationMs").JSON(); got != `{"ok":false,"runId":"slow","runDir":"workspace/scripts/runs/run-slow","scriptPath":"workspace/scripts/runs/run-slow/script.sh","exitCode":null,"timedOut":true,"stdout":"begun\n","stderr":""}` {
		t.Errorf("timed out: %s", got)
	}
	r.refuse("run_script", `{"script": "true", "run_id": "slow"}`, domarkx.CodeInvalid)
	r.refuse("run_script", `{"script": "cd runs/run-own; touch result.json", "run_id": "own"}`, domarkx.CodeFailed)
	v = r.call("run_script", `{"script": "`+strings.Repeat("#", 12_001)+`", "run_id": "large"}`)
	if text, _ := v.Get("stderr"); text.Text() != "Script exceeds max length (12000 characters)." {
		t.Errorf("a large script: %s", v.JSON())
	}
	if _, err := os.Stat(filepath.Join(r.dir, "workspace/scripts/runs/run-large/stdout.log")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a script that was not run has a log: %v", err)
	}
}

func TestRefused(t *testing.T) {
	r := open(t, `{}`)
	r.refuse("append_step", `{"action": {}, "result": ""}`, domarkx.CodeNotFound)
	r.refuse("start_session", `{"task": "t", "at": "noon"}`, domarkx.CodeInvalid)
	r.call("start_session", `{"task": "t", "at": "2026-02-18T13:00:00Z"}`)
	r.refuse("append_step", `{"session": "/etc/session-20260218-130000.md", "action": {}, "result": ""}`, domarkx.CodeInvalid)
	r.refuse("save_screenshot", `{"step": 1, "png": "?"}`, domarkx.CodeInvalid)
	r.refuse("append_memory", `{"model_profile": "p", "task": "t", "result": "r"}`, domarkx.CodeInvalid)
	r.refuse("append_memory", `{"model_profile": "p", "ok": true, "status": "FAIL", "task": "t", "result": "r"}`, domarkx.CodeInvalid)
	r.refuse("store_artifact", `{"request_id": "a"}`, domarkx.CodeInvalid)
	r.refuse("store_artifact", `{"request_id": "a", "json": {"kind": "geo", "lat": "x", "lon": 1}}`, domarkx.CodeInvalid)
	r.refuse("store_artifact", `{"request_id": "a", "mime": "image/png", "json": {}}`, domarkx.CodeInvalid)
	r.refuse("store_artifact", `{"request_id": "a", "base64": "`+strings.Repeat("A", 6_000_001)+`"}`, domarkx.CodeInvalid)
	r.call("store_artifact", `{"request_id": "a", "json": {}}`)
	r.refuse("store_artifact", `{"request_id": "a", "json": {}}`, domarkx.CodeInvalid)

	outside := t.TempDir()
	if err := os.RemoveAll(filepath.Join(r.dir, "workspace/sessions")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(r.dir, "workspace/sessions")); err != nil {
		t.Fatal(err)
	}
	r.refuse("start_session", `{"task": "t", "at": "2026-02-18T13:00:00Z"}`, domarkx.CodeRefused)
	if _, err := openpocket.New().Open(t.Context(), domarkx.Env{Config: parse(t, `{"screenshots": "../x"}`), Dir: t.TempDir()}); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("screenshots outside of the resource: %v", err)
	}
}

// TestWholeWorkTree checks that a resource that is the whole work tree excludes the repository itself,
// whatever leads to it.
func TestWholeWorkTree(t *testing.T) {
	tree := t.TempDir()
	for _, dir := range []string{".git/hooks", "workspace", "state"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := openAt(t, domarkx.Env{Config: parse(t, `{"path": ".", "screenshots": ".git/hooks"}`), Dir: t.TempDir(), WorkTree: tree})
	session := r.call("start_session", `{"task": "t", "at": "2026-02-18T13:00:00Z"}`)
	if path, _ := session.Get("path"); r.read(path.Text()) == "" {
		t.Error("nothing was written")
	}
	r.refuse("save_screenshot", `{"step": 1, "png": "iVBORw0KGgo="}`, domarkx.CodeRefused)
	for link, target := range map[string]string{"state/human-auth-artifacts": "../.git/hooks", "workspace/memory": "../.git"} {
		if err := os.Symlink(target, filepath.Join(tree, link)); err != nil {
			t.Fatal(err)
		}
	}
	r.refuse("store_artifact", `{"request_id": "post-commit", "json": {}}`, domarkx.CodeRefused)
	r.refuse("append_memory", `{"model_profile": "m", "ok": true, "task": "t", "result": "r"}`, domarkx.CodeRefused)
	r.refuse("write_file", `{"path": ".git/hooks/x", "content": ""}`, domarkx.CodeRefused)
	ran := r.call("run_script", `{"script": "cd ../..; echo x > fine; echo x > .git/hooks/post-commit", "timeout": 20}`)
	if _, err := os.Stat(filepath.Join(tree, "fine")); err != nil {
		t.Errorf("%v: %s", err, ran.JSON())
	}
	if left, err := os.ReadDir(filepath.Join(tree, ".git/hooks")); err != nil || len(left) > 0 {
		t.Errorf("the repository was written: %v %v", left, err)
	}
}

// TestDefaults completes calls so that a replay can repeat them.
func TestDefaults(t *testing.T) {
	r := open(t, `{}`)
	d := r.Resource.(domarkx.ArgumentDefaulter)
	r.call("start_session", `{"task": "t", "at": "2026-02-18T13:00:00Z"}`)
	for tool, test := range map[string]struct{ arguments, names string }{
		"start_session":  {`{"task": "t"}`, "task at"},
		"append_step":    {`{"action": {}, "result": ""}`, "action result at session"},
		"run_script":     {`{"script": "x", "at": "2026-02-18T13:00:00Z"}`, "script at run_id"},
		"store_artifact": {`{"request_id": "x", "json": {"kind": "text", "value": ""}}`, "request_id json at"},
		"read_file":      {`{"path": "x"}`, "path"},
	} {
		v, err := d.Defaults(t.Context(), tool, parse(t, test.arguments))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range v.Members() {
			names = append(names, m.Name)
		}
		if got := strings.Join(names, " "); got != test.names {
			t.Errorf("%s has %q, expected %q", tool, got, test.names)
		}
		again, err := d.Defaults(t.Context(), tool, v)
		if err != nil || !again.Equal(v) {
			t.Errorf("%s: completed twice: %s, %v", tool, again.JSON(), err)
		}
	}
}
