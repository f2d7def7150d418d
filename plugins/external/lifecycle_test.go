//go:build linux

package external_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/external"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// recorder is a program that records its requests, and its environment at the start.
const recorder = `
def record(what):
    with open("../recorded", "a") as f:
        f.write(what + "\n")
record("start %d" % len([n for n in os.environ if n.startswith("GIT_")]) + " " + str([d for d in os.environ["PATH"].split(":") if d[:1] != "/"]) + " " + os.path.basename(os.getcwd()))
state = ["1"]
for line in sys.stdin:
    request = json.loads(line)
    method, params = request["method"], request.get("params", {})
    shown = {k: v for k, v in params.items() if k in ("resource", "workspace", "config", "exists", "private", "tool", "arguments", "version")}
    record(method + " " + json.dumps(shown, sort_keys=True))
    if method == "exit":
        continue
    if method == "execute_tool":
        state[0] = str(int(state[0]) + 1)
    if method.endswith("t_version"):
        say(result(request, {"version": state[0]}))
        continue
    say(honest(request))
record("end")
`

// TestLifeOfAResource commits, changes, loads, closes, opens and removes a resource.
func TestLifeOfAResource(t *testing.T) {
	p := plugin(t, recorder)
	env := domarkx.Env{Workspace: "w", Resource: "r", Config: value(t, `{"key": 1.50}`), Dir: t.TempDir(), Warn: func(m string) { t.Log(m) }}
	store := plugintest.NewMemory()
	r, err := p.Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(want bool) {
		t.Helper()
		if got, err := r.Changed(t.Context()); got != want || err != nil {
			t.Errorf("changed %v, %v", got, err)
		}
	}
	changed(true) // without a question
	version, err := commit(t, r, store)
	if err != nil {
		t.Fatal(err)
	}
	changed(false)
	if _, err := r.(domarkx.Runner).Run(t.Context(), "text", "a\nb"); err != nil {
		t.Error(err)
	}
	changed(true)
	if err := r.Load(t.Context(), store, version); err != nil {
		t.Error(err)
	}
	if err := errors.Join(r.Close(t.Context()), r.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if r, err = p.Open(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.TearDown(t.Context()), os.Rename(filepath.Join(env.Dir, "recorded"), filepath.Join(t.TempDir(), "recorded"))); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(env.Dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestRequests checks which requests a program gets from its start to its end, and again when the resource is opened again.
func TestRequests(t *testing.T) {
	t.Setenv("GIT_DIR", "/elsewhere")
	t.Setenv("PATH", "bin:"+os.Getenv("PATH")+":.:")
	p := plugin(t, recorder)
	env := domarkx.Env{Workspace: "w", Resource: "r", Config: value(t, `{"key": 1.50}`), Dir: t.TempDir(), Private: true}
	for range 2 {
		r, err := p.Open(t.Context(), env)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.(domarkx.Runner).Run(t.Context(), "text", "a\nb"); err != nil {
			t.Error(err)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(env.Dir, "recorded"))
	if err != nil {
		t.Fatal(err)
	}
	once := func(exists string) string {
		return "start 0 [] data\ninitialize {}\n" +
			`create_resource {"config": {"key": 1.5}, "exists": ` + exists + `, "private": true, "resource": "r", "workspace": "w"}` + "\n" +
			`execute_tool {"arguments": {"code": "a\nb", "language": "text"}, "resource": "r", "tool": "run_code"}` + "\n" +
			"shutdown {}\nexit {}\nend\n"
	}
	if got, want := string(data), once("false")+once("true"); got != want {
		t.Errorf("the requests were\n%s, expected\n%s", got, want)
	}
}

func TestDescriptions(t *testing.T) {
	tool := func(name string) map[string]any {
		return map[string]any{"name": name, "description": "d", "inputSchema": map[string]any{}, "readOnly": true} // does not count
	}
	with := func(key string, v any) map[string]any {
		d := map[string]any{"protocol": 1, "type": "test", "config": map[string]any{}, "tools": []any{tool("a"), tool(strings.Repeat("x", 64))}, "languages": []any{"c++", "text"}, "dump": true}
		d[key] = v
		return d
	}
	for name, c := range map[string]struct {
		description map[string]any
		message     string
	}{
		"fine":                       {with("later", 1), ""},
		"tools in no list":           {with("tools", tool("a")), `"tools" is not an array`},
		"too many tools":             {with("tools", slices.Repeat([]any{tool("a")}, 1001)), "at most 1000 tools"},
		"a tool without a name":      {with("tools", []any{map[string]any{}}), `"name" of tool 0 is null`},
		"a tool with a blank":        {with("tools", []any{tool("a"), tool("b c")}), `"name" of tool 1 is "b c"`},
		"a tool with a long name":    {with("tools", []any{tool(strings.Repeat("x", 65))}), "at most 64 letters"},
		"a tool without description": {with("tools", []any{map[string]any{"name": "a", "inputSchema": map[string]any{}}}), `"a" has no "description"`},
		"one language":               {with("languages", "c"), `"languages" is not an array`},
		"a language with a blank":    {with("languages", []any{"c d"}), "is not the name of a language"},
		"an empty language":          {with("languages", []any{""}), "is not the name of a language"},
		"too many languages":         {with("languages", slices.Repeat([]any{"c"}, 101)), "at most 100 names"},
		"a text as protocol":         {with("protocol", "1"), "not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := json.Marshal(c.description)
			if err != nil {
				t.Fatal(err)
			}
			path := program(t, fmt.Sprintf("#!/bin/sh\nread request\ncat <<'END'\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\nEND\nread more\n", data))
			d, err := external.New("test", path, external.Options{}).Describe(t.Context())
			if c.message != "" {
				expect(t, err, domarkx.CodeBroken, c.message)
			} else if err != nil || d.Source != path || len(d.Tools) != 2 || d.Tools[0].ReadOnly || !d.Dump || !slices.Equal(d.Languages, []string{"c++", "text"}) {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	_, err := external.New("test", filepath.Join(t.TempDir(), "none"), external.Options{}).Describe(t.Context())
	expect(t, err, domarkx.CodeBroken, "starting ")
}

// TestStandardError checks that a program that writes much to its standard error is shown and logged only so far.
func TestStandardError(t *testing.T) {
	p := plugin(t, `
for n in range(30):
    sys.stderr.write("line %d \x1b[31m" % n + "\n\n")
sys.stderr.write(("e" * 99 + "\n") * 20000)
sys.stderr.flush()
serve()`)
	for _, blocked := range []bool{false, true} { // with a log that cannot be written
		env := domarkx.Env{Resource: "r", Config: jsonvalue.ObjectValue(), Dir: t.TempDir()}
		var told []string
		env.Warn = func(m string) { told = append(told, m) }
		log := filepath.Join(env.Dir, "log")
		if blocked {
			if err := os.Mkdir(log, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		r, err := p.Open(t.Context(), env)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if len(told) != 20 || told[0] != `plugin "test": line 0 \x1b[31m` || !strings.HasSuffix(told[19], "(there is more, see "+map[bool]string{false: log}[blocked]+")") {
			t.Errorf("%d lines were shown: %q", len(told), told)
		}
		if info, err := os.Stat(log); err != nil || !blocked && (info.Size() != 1<<20 || info.Mode().Perm() != 0o600) {
			t.Errorf("the log: %v, %v", info, err)
		}
	}
}

func TestTooLargeCall(t *testing.T) {
	r, _, err := open(t, plugin(t, "serve()"))
	if err != nil {
		t.Fatal(err)
	}
	large := domarkx.Call{Tool: "do", Arguments: jsonvalue.ObjectValue().With("x", jsonvalue.StringValue(strings.Repeat("x", 64<<20)))}
	_, err = r.Execute(t.Context(), large)
	expect(t, err, domarkx.CodeInvalid, "expected at most 67108864")
	if _, err := r.Execute(t.Context(), call(t, "do", `{}`)); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestDamagedState(t *testing.T) {
	for _, text := range []string{"", "{", `{"made": 1}`} {
		env := domarkx.Env{Resource: "r", Config: jsonvalue.ObjectValue(), Dir: t.TempDir()}
		file := filepath.Join(env.Dir, "state.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := plugin(t, "serve()").Open(t.Context(), env); err == nil || !strings.Contains(err.Error(), `the state of resource "r"`) {
			t.Errorf("%q: %v", text, err)
		}
		if data, err := os.ReadFile(file); string(data) != text || err != nil {
			t.Errorf("the state is now %q, %v", data, err)
		}
	}
}

// TestTearDownOfTheBroken checks that the directory of a resource goes although its program cannot remove its things elsewhere.
func TestTearDownOfTheBroken(t *testing.T) {
	env := domarkx.Env{Resource: "r", Config: jsonvalue.ObjectValue(), Dir: t.TempDir()}
	var warned []string
	env.Warn = func(m string) { warned = append(warned, m) }
	r, err := plugin(t, `
os.makedirs("locked/in"); os.chmod("locked", 0o500)
serve({"tear_down": lambda r: os._exit(4)})`).Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.TearDown(t.Context()); err != nil {
		t.Error(err)
	}
	if len(warned) != 1 || !strings.HasPrefix(warned[0], `resource "r" is removed, but its plugin could not remove`) || !strings.Contains(warned[0], "exit code 4") {
		t.Errorf("warnings: %q", warned)
	}
	if left, err := os.ReadDir(env.Dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
