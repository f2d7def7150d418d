//go:build linux

package external_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/external"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/process"
)

func TestMain(m *testing.M) {
	if code, ok := process.Supervise(); ok {
		os.Exit(code)
	}
	plugintest.UsePython()
	os.Exit(m.Run())
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

// alive returns the processes that work in or below a directory.
func alive(t *testing.T, dir string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && (at == dir || strings.HasPrefix(at, dir+"/")) {
			found = append(found, link)
		}
	}
	return found
}

// plugin writes a plugin in Python; body may call answer(), error() and serve().
func plugin(t *testing.T, body string) external.Plugin {
	t.Helper()
	return patient(t, body, 5*time.Second)
}

// patient returns a plugin that has some time for each answer but those to calls.
func patient(t *testing.T, body string, patience time.Duration) external.Plugin {
	t.Helper()
	for _, module := range []string{"socket", "subprocess"} { // most do without, and begin sooner
		if strings.Contains(body, module+".") {
			body = "import " + module + "\n" + body
		}
	}
	return external.New("test", program(t, library+body), external.Options{Describe: patience, Patience: patience, Shutdown: 500 * time.Millisecond})
}

// program writes a program. Until a child that another test starts meanwhile executes its own program, it would have this
// one open for writing, and nobody could execute it (ETXTBSY).
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git-domarkx-plugin-test")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// library begins without Python's module site, which only finds installed packages.
const library = `#!/usr/bin/env -S python3 -S
import json, os, sys, time

def say(message):
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    sys.stdout.flush()

def result(request, value):
    return {"jsonrpc": "2.0", "id": request["id"], "result": value}

def error(request, code, message, **more):
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message, **more}}

def honest(request):
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        return result(request, {"protocol": 1, "type": "test", "config": {"type": "object"}, "tools": [{"name": "do", "description": "d", "inputSchema": {}}]})
    if method == "execute_tool":
        return result(request, {"result": params["arguments"]})
    if method == "commit_version":
        open(params["path"] + "/f", "w").write("content")
    if method.endswith("t_version"):
        return result(request, {"version": "1"})
    return result(request, None)

def serve(special={}):
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "exit":
            return
        act = special.get(request["method"])
        if act is None:
            say(honest(request))
        else:
            act(request)
`

func open(t *testing.T, p external.Plugin) (domarkx.Resource, domarkx.Env, error) {
	t.Helper()
	env := domarkx.Env{Workspace: "w", Resource: "r", Config: jsonvalue.ObjectValue(), Dir: t.TempDir(), Warn: func(m string) { t.Log(m) },
		Limits: domarkx.Limits{Processes: 50, Memory: 300 << 20}}
	r, err := p.Open(t.Context(), env)
	if err == nil {
		t.Cleanup(func() {
			if err := r.Close(context.Background()); err != nil {
				t.Error(err)
			}
			if left := alive(t, env.Dir); len(left) > 0 {
				t.Errorf("alive: %v", left)
			}
		})
	}
	return r, env, err
}

func commit(t *testing.T, r domarkx.Resource, store *plugintest.Memory) (string, error) {
	t.Helper()
	w, err := store.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), w); err != nil {
		return "", err
	}
	return w.Finish(t.Context())
}

func expect(t *testing.T, err error, code, message string) {
	t.Helper()
	var tool *domarkx.ToolError
	if !errors.As(err, &tool) || tool.Code != code || !strings.Contains(tool.Message, message) {
		t.Errorf("%v, expected %s and %q", err, code, message)
	}
}

// TestLies runs programs that violate the protocol, each in another way.
func TestLies(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	commits := func(action string) string {
		return "def lie(r):\n    path = r['params']['path']\n    " + action + "\n    say(result(r, {'version': '1'}))\nserve({'commit_version': lie})"
	}
	does := func(action string) string {
		return "def lie(r):\n    " + action + "\nserve({'execute_tool': lie})"
	}
	for i, c := range []struct{ name, body, message string }{
		{"ends at once", "sys.exit(7)", "exit code 7"},
		{"says nothing", "time.sleep(1000)", "does not answer initialize"},
		{"greets", "say('Welcome!')\nserve()", "not JSON"},
		{"is another type", "serve({'initialize': lambda r: say(result(r, {'protocol': 1, 'type': 'other', 'config': {}, 'tools': []}))})", `expected "test"`},
		{"has another protocol", "serve({'initialize': lambda r: say(result(r, {'protocol': 2, 'type': 'test', 'config': {}, 'tools': []}))})", "not supported"},
		{"has no schema", "serve({'initialize': lambda r: say(result(r, {'protocol': 1, 'type': 'test', 'tools': []}))})", `"config"`},
		{"has a tool without a schema", "serve({'initialize': lambda r: say(result(r, {'protocol': 1, 'type': 'test', 'config': {}, 'tools': [{'name': 'a', 'description': 'b'}]}))})", "inputSchema"},
		{"has a tool twice", "tool = {'name': 'a', 'description': 'b', 'inputSchema': {}}\nserve({'initialize': lambda r: say(result(r, {'protocol': 1, 'type': 'test', 'config': {}, 'tools': [tool, tool]}))})", "two tools"},
		{"answers another request", does("say({**honest(r), 'id': 99})"), "a request 99"},
		{"answers with a text as id", does("say({**honest(r), 'id': str(r['id'])})"), "expected the answer to"},
		{"answers the one before", does("say({**honest(r), 'id': r['id'] - 1})"), "expected the answer to"},
		{"answers twice", does("say(honest(r)); say(honest(r)); time.sleep(.1)"), "request"},
		{"answers and fails", does("say({**honest(r), 'error': {'code': 1, 'message': 'x'}})"), "either"},
		{"answers nothing", does("say({'jsonrpc': '2.0', 'id': r['id']})"), "either"},
		{"answers without a result", does("say(result(r, {}))"), `no "result"`},
		{"has an odd error", does("say({'jsonrpc': '2.0', 'id': r['id'], 'error': 'bad'})"), "whole number"},
		{"asks the host", does("say({'jsonrpc': '2.0', 'id': 1, 'method': 'read_file', 'params': {}})"), "cannot send requests"},
		{"has an old version", does("say({'jsonrpc': '1.0', 'id': r['id'], 'result': {}})"), `"2.0"`},
		{"answers in a batch", does("say([honest(r)])"), "expected a JSON object"},
		{"nests", does("say('[' * 100000)"), "not JSON"},
		{"is not UTF-8", does(`sys.stdout.buffer.write(b'\xff\n'); sys.stdout.flush()`), "not UTF-8"},
		{"floods with a line", does("say('x' * 5000000); time.sleep(1000)"), "over 4 MiB"},
		{"floods with a line that does not end", does("[sys.stdout.write('x' * 65536) for _ in iter(int, 1)]"), "over 4 MiB"},
		{"floods with lines", does("[say('{}') for _ in iter(int, 1)]"), `expected "jsonrpc"`},
		{"floods its errors", does("sys.stderr.write(('e' * 99 + chr(10)) * 100000); sys.stderr.flush(); os._exit(3)"), "exit code 3"},
		{"crashes", does("raise Exception('boom ' + chr(27) + '[31m')"), `boom \x1b[31m`},
		{"kills itself", does("os.kill(os.getpid(), 9)"), "exit code 137"},
		{"starts too much", does("[subprocess.Popen(['sleep', '1000']) for _ in range(70)]; time.sleep(1000)"), "domarkx.limit.processes"},
		{"takes memory", does("x = b'x' * (500 << 20); time.sleep(1000)"), "domarkx.limit.memory"},
		{"closes its output", does("os.close(1); time.sleep(1000)"), "closed its output"},
		{"leaves its children", does("subprocess.Popen(['setsid', 'sleep', '1000']); os._exit(0)"), "exit code 0"},
		{"names an attachment outside", does("say(result(r, {'result': 1, 'attachment': '../state.json'}))"), `"attachment"`},
		{"names a link as attachment", does("os.symlink('" + secret + "', r['params']['attachments'] + '/a'); say(result(r, {'result': 1, 'attachment': 'a'}))"), "not a regular file"},
		{"names a FIFO as attachment", does("os.mkfifo(r['params']['attachments'] + '/a'); say(result(r, {'result': 1, 'attachment': 'a'}))"), "not a regular file"},
		{"names no attachment", does("say(result(r, {'result': 1, 'attachment': 'a'}))"), "not a regular file"},
		{"has no version", "serve({'commit_version': lambda r: say(result(r, {}))})", `no "version"`},
		{"has a version that is no text", "serve({'commit_version': lambda r: say(result(r, {'version': 1}))})", `no "version"`},
		{"has an endless version", "serve({'commit_version': lambda r: say(result(r, {'version': 'x' * 5000}))})", `no "version"`},
		{"has a version that does not exist", "serve({'commit_version': lambda r: say(result(r, {'version': 'other'}))})", "get_version says"},
		{"commits for ever", "serve({'commit_version': lambda r: time.sleep(1000)})", "does not answer commit_version"},
		{"commits a link outside", commits("os.symlink('" + secret + "', path + '/a')"), "symbolic link"},
		{"commits a link that goes up", commits("os.symlink('../../state.json', path + '/a')"), "symbolic link"},
		{"commits a link through a link", commits("os.mkdir(path + '/d'); os.symlink('..', path + '/d/l'); os.symlink('d/l/../x', path + '/a')"), "symbolic link"},
		{"commits a socket", commits("os.chdir(path); socket.socket(socket.AF_UNIX).bind('s')"), "socket"},
		{"commits a FIFO", commits("os.mkfifo(path + '/f')"), "FIFO"},
		{"commits another directory", commits("os.rmdir(path); os.symlink('/etc', path)"), "replaced the directory"},
		{"commits no directory", commits("os.rmdir(path)"), "replaced the directory"},
		{"commits a directory of its own", commits("os.rename(path, path + '2'); os.mkdir(path)"), "replaced the directory"},
	} {
		if testing.Short() && i%3 != 1 { // each starts a Python
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := plugin(t, c.body)
			if strings.HasPrefix(c.message, "does not answer") {
				p = patient(t, c.body, time.Second)
			}
			r, env, err := open(t, p)
			if err == nil {
				var result domarkx.Result
				result, err = r.Execute(t.Context(), call(t, "do", `{"n": 1}`))
				if result.Attachment != nil {
					result.Attachment.Close()
				}
			}
			if err == nil {
				_, err = commit(t, r, plugintest.NewMemory())
			}
			expect(t, err, domarkx.CodeBroken, c.message)
			if left := alive(t, env.Dir); len(left) > 0 {
				t.Errorf("alive: %v", left)
			}
			if data, err := os.ReadFile(secret); string(data) != "s3cret" || err != nil {
				t.Error("harmed what is elsewhere")
			}
		})
	}
}

func TestErrors(t *testing.T) {
	r, _, err := open(t, plugin(t, `serve({"execute_tool": lambda r: say(eval(r["params"]["arguments"]["answer"]))})`))
	if err != nil {
		t.Fatal(err)
	}
	for answer, code := range map[string]string{
		`error(r, -32000, "m", data={"code": "not_found"})`:    domarkx.CodeNotFound,
		`error(r, -32000, "m", data={"code": "refused"})`:      domarkx.CodeRefused,
		`error(r, -32602, "m")`:                                domarkx.CodeInvalid,
		`error(r, -32601, "m")`:                                domarkx.CodeFailed,
		`error(r, 1, "m", data={"code": "interrupted"})`:       domarkx.CodeFailed,
		`error(r, 1, "m", data=["code"])`:                      domarkx.CodeFailed,
		`error(r, -32602, "m", data={"code": "unknown_tool"})`: domarkx.CodeUnknownTool,
	} {
		_, err = r.Execute(t.Context(), domarkx.Call{Tool: "do", Arguments: jsonvalue.ObjectValue().With("answer", jsonvalue.StringValue(answer))})
		expect(t, err, code, "m")
		if _, err := commit(t, r, plugintest.NewMemory()); err != nil {
			t.Errorf("after an error: %v", err)
		}
	}
}

// TestRestart calls a tool of a resource after its program died.
func TestRestart(t *testing.T) {
	r, env, err := open(t, plugin(t, `
def do(r):
    if r["params"]["arguments"].get("die"):
        os._exit(1)
    say(honest(r))
def create(r):
    assert r["params"]["exists"] == os.path.exists("made"), r
    open("made", "w").close()
    say(honest(r))
serve({"execute_tool": do, "create_resource": create})`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Execute(t.Context(), call(t, "do", `{"die": true}`))
	expect(t, err, domarkx.CodeBroken, "exit code 1")
	result, err := r.Execute(t.Context(), call(t, "do", `{"n": 1.5}`))
	if err != nil || result.Value.JSON() != `{"n":1.5}` {
		t.Errorf("%s, %v", result.Value.JSON(), err)
	}
	if _, err := os.Stat(filepath.Join(env.Dir, "data", "made")); err != nil {
		t.Error(err)
	}
	if err := r.TearDown(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(env.Dir); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
}

func TestTimeAndCancel(t *testing.T) {
	t.Parallel()
	r, env, err := open(t, plugin(t, "serve({'execute_tool': lambda r: (subprocess.Popen(['setsid', 'sleep', '1000']), open('ready', 'w').close(), time.sleep(1000))})"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := r.Execute(ctx, call(t, "do", `{}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if left := alive(t, env.Dir); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
	if _, err := commit(t, r, plugintest.NewMemory()); err != nil {
		t.Error(err)
	}
}

func TestProgressIsPatience(t *testing.T) {
	t.Parallel()
	r, _, err := open(t, patient(t, `
def slow(r):
    for _ in range(5):
        time.sleep(0.25)
        say({"jsonrpc": "2.0", "method": "progress"})
    say(honest(r))
serve({"commit_version": slow})`, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := commit(t, r, plugintest.NewMemory()); err != nil {
		t.Error(err)
	}
}

func TestAttachment(t *testing.T) {
	r, _, err := open(t, plugin(t, `
def do(r):
    open(r["params"]["attachments"] + "/out", "w").write("x" * 3000000)
    say(result(r, {"result": {"n": 1}, "attachment": "out"}))
serve({"execute_tool": do})`))
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Execute(t.Context(), call(t, "do", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer result.Attachment.Close()
	if _, err := r.Execute(t.Context(), call(t, "do", `{}`)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for buffer := make([]byte, 1<<20); ; {
		k, err := result.Attachment.Read(buffer)
		if n += k; err != nil {
			break
		}
	}
	if n != 3000000 {
		t.Error(n)
	}
}

// TestHostileVersion loads versions that no plugin can have committed.
func TestHostileVersion(t *testing.T) {
	r, env, err := open(t, plugin(t, "serve()"))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]domarkx.File{
		"a link outside": {Type: domarkx.Symlink, Mode: 0o777, Target: "/etc/passwd"},
		"a FIFO":         {Type: domarkx.Fifo, Mode: 0o644},
		"a device":       {Type: domarkx.CharDevice, Mode: 0o644, Major: 1, Minor: 3},
		"a set-id bit":   {Type: domarkx.Regular, Mode: 0o4755},
	} {
		store := plugintest.NewMemory()
		w, err := store.Begin(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if f.Type == domarkx.Regular {
			if f.ID, f.Size, err = w.Content(t.Context(), strings.NewReader("x")); err != nil {
				t.Fatal(err)
			}
		}
		err = errors.Join(w.Add(t.Context(), "", domarkx.File{Type: domarkx.Directory, Mode: 0o755}), w.Add(t.Context(), "a", f))
		version, ferr := w.Finish(t.Context())
		if err := errors.Join(err, ferr); err != nil {
			t.Fatal(err)
		}
		if err := r.Load(t.Context(), store, version); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(env.Dir, "staging")); !os.IsNotExist(err) {
			t.Errorf("%s: written", name)
		}
	}
}

func TestFind(t *testing.T) {
	top := t.TempDir()
	make := func(path string, mode os.FileMode) {
		path = filepath.Join(top, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\n"), mode)); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"one", "two_2", "Three", "", "a-b", "four.py"} {
		make("a/git-domarkx-plugin-"+name, 0o755)
		make("b/git-domarkx-plugin-"+name+strconv.Itoa(i), 0o755)
	}
	make("a/git-domarkx-plugin-five", 0o644)
	make("b/git-domarkx-plugin-one", 0o755)
	make("repo/bin/git-domarkx-plugin-evil", 0o755)
	make("git-domarkx-plugin-here", 0o755)
	if err := errors.Join(os.Mkdir(filepath.Join(top, "a/git-domarkx-plugin-directory"), 0o755), os.Symlink(filepath.Join(top, "repo/bin"), filepath.Join(top, "link"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	path := ":.:" + filepath.Join(top, "none") + ":" + filepath.Join(top, "repo/bin") + ":" + filepath.Join(top, "link") + ":" + filepath.Join(top, "a") + ":" + filepath.Join(top, "b") + ":repo/bin"
	var got []string
	for _, p := range external.Find(path, filepath.Join(top, "repo"), "") {
		d, err := p.Describe(t.Context())
		if err == nil {
			t.Errorf("%s describes itself: %v", p.Type(), d)
		}
		got = append(got, p.Type())
	}
	want := map[string]bool{"one": true, "two_2": true, "one0": true, "two_21": true, "3": true}
	for _, name := range got {
		if !want[name] {
			t.Errorf("found %q", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("did not find %v", want)
	}
}
