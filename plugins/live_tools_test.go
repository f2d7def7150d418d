package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// listing is a fake whose resources have tools of their own, and complete arguments.
type listing struct {
	*fake
	tools   []domarkx.Tool
	asked   int // how often a resource was asked for its tools
	fails   error
	cancel  context.CancelFunc // called while tools are listed; nil for nothing
	results func() (domarkx.Result, error)
}

func (p *listing) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	r, err := p.fake.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return &listingResource{r.(*fakeResource), p}, nil
}

type listingResource struct {
	*fakeResource
	p *listing
}

func (r *listingResource) Tools(context.Context) ([]domarkx.Tool, error) {
	r.p.asked++
	if r.p.cancel != nil {
		r.p.cancel()
	}
	return r.p.tools, r.p.fails
}

func (r *listingResource) Defaults(_ context.Context, tool string, arguments jsonvalue.Value) (jsonvalue.Value, error) {
	if tool == "panic" {
		panic("while completing")
	}
	return arguments.With("seed", jsonvalue.NumberValue("7")), r.p.fails
}

func (r *listingResource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	if r.p.results != nil {
		return r.p.results()
	}
	return domarkx.Result{Value: call.Arguments}, nil
}

// newListing returns a world whose plugin is a listing, and an open workspace with its resource "a".
func newListing(t *testing.T) (*listing, *plugins.Live) {
	t.Helper()
	w := newWorld(t)
	p := &listing{fake: w.p, tools: []domarkx.Tool{
		{Name: "own", Schema: parse(t, `{"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}, "seed": {}, "timeout": {}}}`)},
		{Name: "odd", Schema: parse(t, `{"type": 7, "pattern": "("}`)}, {Name: "panic", Schema: jsonvalue.ObjectValue()},
	}}
	w.m = plugins.New([]domarkx.Plugin{p}, w.store, w.config)
	return p, w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
}

func code(t *testing.T, what string, err error, code, says string) {
	t.Helper()
	var e *domarkx.ToolError
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, says) {
		t.Errorf("%s: %v, expected %s and %q", what, err, code, says)
	}
}

func TestOwnTools(t *testing.T) {
	p, l := newListing(t)
	for range 2 {
		tools, own, err := l.Tools(t.Context(), "a")
		if len(tools) != 3 || !own || err != nil {
			t.Errorf("%v, own %v, %v", tools, own, err)
		}
	}
	call := func(tool, arguments string) domarkx.Call {
		return domarkx.Call{Tool: tool, Arguments: parse(t, arguments)}
	}
	if err := l.CheckCall(t.Context(), "a", call("own", `{"x": 1}`)); err != nil {
		t.Error(err)
	}
	code(t, "a tool of the type", l.CheckCall(t.Context(), "a", call("get", `{}`)), domarkx.CodeUnknownTool, "only own, odd, panic")
	code(t, "a missing argument", l.CheckCall(t.Context(), "a", call("own", `{}`)), domarkx.CodeInvalid, "/arguments")
	code(t, "a wrong argument", l.CheckCall(t.Context(), "a", call("own", `{"x": "1"}`)), domarkx.CodeInvalid, "/arguments/x")
	code(t, "no resource", l.CheckCall(t.Context(), "b", call("own", `{"x": 1}`)), domarkx.CodeNoResource, `"a"`)
	if err := l.CheckCall(t.Context(), "a", call("odd", `{}`)); err != nil {
		t.Errorf("a schema that nobody can check: %v", err)
	}
	if p.asked != 1 {
		t.Errorf("asked %d times for tools", p.asked)
	}
	completed, err := l.Defaults(t.Context(), "a", call("own", `{"x": 1}`))
	if err != nil || completed.Arguments.JSON() != `{"x":1,"seed":7}` {
		t.Errorf("completed: %s, %v", completed.Arguments.JSON(), err)
	}
	if _, err := l.Defaults(t.Context(), "a", call("own", `{}`)); err == nil {
		t.Error("an invalid call was completed")
	}
	_, err = l.Defaults(t.Context(), "a", call("panic", `{}`))
	code(t, "a panic", err, domarkx.CodeBroken, "while completing")
	p.fails = errors.New("no seeds")
	_, err = l.Defaults(t.Context(), "a", call("own", `{"x": 1}`))
	code(t, "a failure", err, domarkx.CodeFailed, "no seeds")
}

func TestToolsCannotBeListed(t *testing.T) {
	p, l := newListing(t)
	p.fails = errors.New("server is down")
	_, _, err := l.Tools(t.Context(), "a")
	code(t, "a failure", err, domarkx.CodeFailed, "server is down")
	ctx, cancel := context.WithCancel(t.Context())
	p.cancel = cancel
	if _, _, err := l.Tools(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	asked := p.asked
	if _, _, err := l.Tools(ctx, "a"); !errors.Is(err, context.Canceled) || p.asked != asked {
		t.Errorf("after the end of the context: %v, asked %v", err, p.asked != asked)
	}
	p.fails, p.cancel = nil, nil
	if tools, _, err := l.Tools(t.Context(), "a"); len(tools) != 3 || err != nil {
		t.Errorf("when it is up again: %v, %v", tools, err)
	}
}

// TestResults checks results that callers do not get, and that their attachments are closed.
func TestResults(t *testing.T) {
	p, l := newListing(t)
	closed := 0
	with := func(v jsonvalue.Value, err error) {
		p.results = func() (domarkx.Result, error) {
			return domarkx.Result{Value: v, Attachment: closing{strings.NewReader("x"), &closed}}, err
		}
	}
	run := func() (domarkx.Result, error) {
		return l.Call(t.Context(), plugintest.MayCall(l.Name(), "a", domarkx.Call{Tool: "own", Arguments: parse(t, `{"x": 1}`)}))
	}
	deep := jsonvalue.ArrayValue()
	for range 2000 {
		deep = jsonvalue.ArrayValue(deep)
	}
	with(deep, nil)
	_, err := run()
	code(t, "a deep result", err, domarkx.CodeBroken, "nested deeper")
	with(jsonvalue.Value{}, errors.New("failed"))
	_, err = run()
	code(t, "a result with an error", err, domarkx.CodeFailed, "failed")
	if closed != 2 {
		t.Errorf("%d attachments were closed", closed)
	}
	with(jsonvalue.StringValue("fine"), nil)
	if r, err := run(); err != nil || r.Value.Text() != "fine" || closed != 2 || r.Attachment.Close() != nil {
		t.Errorf("%s, %v, %d closed", r.Value.JSON(), err, closed)
	}
}

type closing struct {
	io.Reader
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

// mute is a fake whose resources run no code.
type mute struct{ *fake }

func (p mute) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	r, err := p.fake.Open(ctx, env)
	return struct{ domarkx.Resource }{r}, err
}

func TestCanRun(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "broken", `{"token": "fine"}`), spec(t, "a", `{}`)}})
	if !l.CanRun("text") || l.CanRun("cobol") || l.Name() != "s" {
		t.Errorf("text %v, cobol %v", l.CanRun("text"), l.CanRun("cobol"))
	}
	w.m = plugins.New([]domarkx.Plugin{mute{w.p}}, w.store, w.config)
	other := w.open("other", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	if other.CanRun("text") {
		t.Error("a resource that is no runner runs text")
	}
	_, _, err := other.Run(t.Context(), plugintest.MayRun(other.Name(), "text", "x"))
	code(t, "no runner", err, domarkx.CodeNoResource, `no resource of the workspace runs code, which a block in "text" needs`)
	l.Warn("twice")
	l.Warn("twice")
	if !slices.Equal(w.warns, []string{"twice"}) {
		t.Errorf("warnings: %q", w.warns)
	}
}

func TestCheckDefaults(t *testing.T) {
	w := newWorld(t)
	for config, want := range map[string]string{
		`{}`: "", `{"n": 1}`: "", `{"token": "x", "path": "p"}`: "", `{"n": "1"}`: "/n", `{"token": ""}`: "/token", `{"other": 1}`: "/other",
	} {
		err := w.m.CheckDefaults(t.Context(), "fake", parse(t, config))
		var at *syntax.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &at) || at.Pointer != want || !errors.Is(err, domarkx.ErrInvalid)) {
			t.Errorf("%s: %v, expected %q", config, err, want)
		}
	}
	if err := w.m.CheckDefaults(t.Context(), "odd", jsonvalue.ObjectValue()); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("an unknown type: %v", err)
	}
}

func TestWhoHasAnInstance(t *testing.T) {
	w := newWorld(t)
	inUse := func() bool {
		t.Helper()
		used, err := w.m.InUse(t.Context(), "s")
		if err != nil {
			t.Error(err)
		}
		return used
	}
	if inUse() {
		t.Error("an instance that does not exist is in use")
	}
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}})
	w.set(l, "a", "x")
	if !inUse() {
		t.Error("an open instance is not in use")
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if inUse() {
		t.Error("a closed instance is in use")
	}
	for _, c := range []struct{ name, resource, says string }{{"none", "", "no instance"}, {"s", "c", `has no resource "c"`}, {"s", "a", "no directory of this machine"}, {"s", "", "no directory of this machine"}} {
		if path, err := w.m.Path(t.Context(), c.name, c.resource); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("the path of %q in %s: %q, %v", c.resource, c.name, path, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.m.Instances(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// TestDamagedStates checks that damaged states of instances are errors, and that nothing removes them.
func TestDamagedStates(t *testing.T) {
	for text, want := range map[string]error{"": domarkx.ErrCorrupt, `{"format": "1"`: domarkx.ErrCorrupt, `{"format": "2"}`: domarkx.ErrUnsupported, `[]`: domarkx.ErrCorrupt} {
		w := newWorld(t)
		w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}}).Close(t.Context())
		file := filepath.Join(w.config.Dir, "s", "state.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, opened := w.try(t.Context(), "s", opening{})
		_, listed := w.m.Instances(t.Context())
		_, used := w.m.InUse(t.Context(), "s")
		for what, err := range map[string]error{
			"Open": opened, "Instances": listed, "InUse": used, "Rename": w.m.Rename(t.Context(), "s", "t"), "TearDown": w.m.TearDown(t.Context(), "s"), "Discard": w.m.Discard(t.Context(), "s"),
		} {
			if !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), file) {
				t.Errorf("%q, %s: %v, expected %v", text, what, err, want)
			}
		}
		if data, err := os.ReadFile(file); string(data) != text || err != nil {
			t.Errorf("the state is now %q, %v", data, err)
		}
	}
}

// TestRenamesAreKilled checks what the next process finds after a kill at each step of a rename.
func TestRenamesAreKilled(t *testing.T) {
	for name, moved := range map[string]bool{"before the directory moves": false, "after the directory moved": true} {
		w := newWorld(t)
		l := w.open("old", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
		w.set(l, "a", "text")
		if err := l.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		from, to := filepath.Join(w.config.Dir, "old"), filepath.Join(w.config.Dir, "new")
		file := filepath.Join(from, "state.json")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		renaming := strings.Replace(string(data), `"name": "old"`, `"name": "old", "renaming": "new"`, 1)
		if renaming == string(data) {
			t.Fatalf("the state is %s", data)
		}
		if err := os.WriteFile(file, []byte(renaming), 0o600); err != nil {
			t.Fatal(err)
		}
		want, other := "old", "new"
		if moved {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
			want, other = "new", "old"
		}
		w.renew(w.store)
		if all, err := w.m.Instances(t.Context()); err != nil || len(all) != 1 || all[0].Name != want {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		if _, err := w.m.Instance(t.Context(), other); !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%s, %s: %v", name, other, err)
		}
		l = w.open(want, opening{Existing: true})
		if got := w.get(l, "a"); got != "text" || l.Name() != want {
			t.Errorf("%s: %q in %s", name, got, l.Name())
		}
		l.Close(t.Context())
		if err := w.m.Rename(t.Context(), want, "third"); err != nil {
			t.Errorf("%s: renaming again: %v", name, err)
		}
	}
}

func TestRenameIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b"} {
		l := w.open(name, opening{Specs: []domarkx.ResourceSpec{spec(t, "r", `{}`)}})
		w.set(l, "r", name)
		l.Close(t.Context())
	}
	if err := w.m.Rename(t.Context(), "a", "b"); !errors.Is(err, domarkx.ErrExists) {
		t.Errorf("to an instance that exists: %v", err)
	}
	no := errors.New("the ref cannot move")
	if err := w.m.RenameWith(t.Context(), "a", "c", func() error { return no }); !errors.Is(err, no) {
		t.Errorf("when the first step fails: %v", err)
	}
	called := false
	if err := w.m.RenameWith(t.Context(), "none", "c", func() error { called = true; return nil }); err != nil || !called {
		t.Errorf("without an instance: %v, called %v", err, called)
	}
	if err := w.m.Rename(t.Context(), "a", "a"); err != nil {
		t.Errorf("to its own name: %v", err)
	}
	for _, name := range []string{"a", "b"} {
		if got := w.get(w.open(name, opening{Existing: true}), "r"); got != name {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

// TestWhatAKillLeaves checks that Open removes the temporary and half-removed instances of dead processes, and no others.
func TestWhatAKillLeaves(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	w.set(l, "a", "x")
	v := w.commit(l, "1")
	l.Close(t.Context())
	living := w.open("s", opening{Temporary: true, Tip: &v})
	for _, name := range []string{".gone-x/locked", ".tmp-dead"} {
		if err := os.MkdirAll(filepath.Join(w.config.Dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(w.config.Dir, ".tmp-killed"), os.DirFS(filepath.Join(w.config.Dir, "s"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.config.Dir, ".gone-x/locked/f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(w.config.Dir, ".gone-x/locked"), 0o500); err != nil {
		t.Fatal(err)
	}
	w.open("s", opening{}).Close(t.Context())
	var left []string
	entries, err := os.ReadDir(w.config.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, _, _ := strings.Cut(e.Name(), "-"); name != ".claims" {
			left = append(left, name)
		}
	}
	if !slices.Equal(left, []string{".tmp", "s"}) {
		t.Errorf("left are %q of %v", left, entries)
	}
	if got := w.get(living, "a"); got != "x" {
		t.Errorf("the temporary instance of a running process holds %q", got)
	}
}

// stubborn is a fake whose resources cannot be removed.
type stubborn struct{ *fake }

func (p stubborn) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	r, err := p.fake.Open(ctx, env)
	return &stubbornResource{r.(*fakeResource)}, err
}

type stubbornResource struct{ *fakeResource }

func (stubbornResource) TearDown(context.Context) error { return errors.New("engine is down") }

func TestDiscard(t *testing.T) {
	w := newWorld(t)
	w.m = plugins.New([]domarkx.Plugin{stubborn{w.p}}, w.store, w.config)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}})
	w.set(l, "b", "x")
	l.Close(t.Context())
	if err := w.m.TearDown(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "engine is down") {
		t.Errorf("tearing down: %v", err)
	}
	if _, err := w.m.Instance(t.Context(), "s"); err != nil {
		t.Errorf("after a failed removal: %v", err)
	}
	if err := w.m.Discard(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	if _, err := w.m.Instance(t.Context(), "s"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("discarded: %v", err)
	}
	if got := strings.Join(w.warns, "; "); !strings.Contains(got, "engine is down") {
		t.Errorf("warnings: %s", got)
	}
	if err := w.m.Discard(t.Context(), "s"); err != nil {
		t.Errorf("again: %v", err)
	}
}
