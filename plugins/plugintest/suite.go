package plugintest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// A Suite is what a plugin's test says of the plugin.
type Suite struct {
	Plugin domarkx.Plugin
	// Config of a resource, without "type" and "id".
	Config domarkx.Value
	// Changes are calls that each leave another state than before, in this order.
	Changes []domarkx.Call
	// Read is a call that changes nothing, and that works in every state.
	Read domarkx.Call
	// Refused are calls with fitting arguments that fail, by the code of their error.
	Refused map[string]domarkx.Call
	// Invalid are configs that the schema must refuse.
	Invalid []domarkx.Value
	// Alive, unless nil, reports whether anything runs that the resources in a folder
	// started.
	Alive func(dir string) bool
}

// Run holds a plugin to what every type of resource must do.
func Run(t *testing.T, s Suite) {
	t.Run("describe", s.describe)
	t.Run("config", s.config)
	t.Run("calls", s.calls)
	t.Run("versions", s.versions)
	t.Run("elsewhere", s.elsewhere)
	t.Run("taken up", s.takenUp)
	t.Run("interrupted load", s.interruptedLoad)
	t.Run("pruned", s.pruned)
	t.Run("tear down", s.tearDown)
}

// home is where a workspace of the plugin lives.
type home struct {
	s     Suite
	m     *plugins.WorkspaceManager
	store *Memory
	dir   string
	tree  string // work tree
}

const (
	workspace = "test/workspace"
	resource  = "the-resource"
)

func (s Suite) home(t *testing.T, store *Memory) *home {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "workspaces")
	h := &home{s: s, store: store, dir: dir, tree: t.TempDir()}
	h.m = h.manager(t, store)
	t.Cleanup(func() {
		if err := h.m.TearDown(context.Background(), workspace); err != nil {
			t.Errorf("tearing down: %v", err)
		}
	})
	return h
}

// manager returns a manager of the instances there, with another store.
func (h *home) manager(t *testing.T, store plugins.Versions) *plugins.WorkspaceManager {
	return plugins.New([]domarkx.Plugin{h.s.Plugin}, store, plugins.Home{Dir: h.dir, WorkTree: h.tree, Warn: func(m string) { t.Log(m) }})
}

func (s Suite) spec(config domarkx.Value) []domarkx.ResourceSpec {
	whole := domarkx.ObjectValue(append([]domarkx.Member{{Name: "type", Value: domarkx.StringValue(s.Plugin.Type())}}, config.Members()...)...)
	return []domarkx.ResourceSpec{{ID: resource, Type: s.Plugin.Type(), Config: whole}}
}

// open opens the workspace, which is closed when the test ends.
func (h *home) open(t *testing.T, tip *domarkx.Version) *plugins.Live {
	t.Helper()
	l, err := h.m.Open(t.Context(), workspace, plugins.Options{Specs: h.s.spec(h.s.Config), Tip: tip})
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(func() { h.close(t, l) })
	return l
}

func (h *home) close(t *testing.T, l *plugins.Live) {
	t.Helper()
	if err := l.Close(context.Background()); err != nil {
		t.Errorf("closing: %v", err)
	}
	if h.s.Alive != nil && h.s.Alive(h.dir) {
		t.Error("something runs after closing")
	}
	if n := h.store.Open(); n != 0 {
		t.Errorf("%d contents are not closed", n)
	}
}

// call makes a call that must work.
func (h *home) call(t *testing.T, l *plugins.Live, c domarkx.Call) {
	t.Helper()
	c, err := l.Defaults(t.Context(), resource, c)
	if err != nil {
		t.Fatalf("completing %s: %v", c.Tool, err)
	}
	r, err := l.Call(t.Context(), resource, c)
	if err != nil {
		t.Fatalf("calling %s: %v", c.Tool, err)
	}
	if r.Attachment != nil {
		r.Attachment.Close()
	}
}

// commit commits the state under an id, and returns the version.
func (h *home) commit(t *testing.T, l *plugins.Live, id string) domarkx.Version {
	t.Helper()
	c, err := l.Commit(t.Context())
	if err != nil {
		t.Fatalf("committing: %v", err)
	}
	v := domarkx.Version{Workspace: workspace, ID: id, Resources: c.Resources}
	if err := errors.Join(l.Committed(t.Context(), v), c.Settle()); err != nil {
		t.Fatalf("committing: %v", err)
	}
	return v
}

func (h *home) load(t *testing.T, l *plugins.Live, v domarkx.Version) {
	t.Helper()
	if err := l.Load(t.Context(), v); err != nil {
		t.Fatalf("loading: %v", err)
	}
}

// holds checks that the state is that of a version.
func (h *home) holds(t *testing.T, l *plugins.Live, v domarkx.Version) {
	t.Helper()
	c, err := l.Commit(t.Context())
	if err != nil {
		t.Fatalf("committing: %v", err)
	}
	defer c.Abort()
	if c.Resources[0].Version != v.Resources[0].Version {
		t.Errorf("the state is %s, expected %s of %s", c.Resources[0].Version, v.Resources[0].Version, v.ID)
	}
}

// expect checks the code of an error.
func expect(t *testing.T, what string, err error, code string) {
	t.Helper()
	var tool *domarkx.ToolError
	if !errors.As(err, &tool) || tool.Code != code {
		t.Errorf("%s: %v, expected the code %q", what, err, code)
	} else if tool.Message == "" {
		t.Errorf("%s: no message", what)
	}
}

func (s Suite) describe(t *testing.T) {
	if s.Plugin.Type() == "" {
		t.Error("no type")
	}
	d, err := s.Plugin.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Source == "" || d.Config.Kind() != domarkx.Object {
		t.Errorf("source %q, config schema %s", d.Source, d.Config.JSON())
	}
	for _, tool := range d.Tools {
		if tool.Name == "" || tool.Description == "" || tool.Schema.Kind() != domarkx.Object {
			t.Errorf("tool %q: description %q, schema %s", tool.Name, tool.Description, tool.Schema.JSON())
		}
	}
}

func (s Suite) config(t *testing.T) {
	h := s.home(t, NewMemory())
	if err := h.m.Check(t.Context(), s.spec(s.Config)); err != nil {
		t.Error(err)
	}
	unknown := s.Config.With("no-such-key", domarkx.BoolValue(true))
	for _, config := range append([]domarkx.Value{unknown}, s.Invalid...) {
		var at *domarkx.SyntaxError
		if err := h.m.Check(t.Context(), s.spec(config)); !errors.As(err, &at) || at.Pointer == "" {
			t.Errorf("config %s: %v, expected an error with a place", config.JSON(), err)
		}
	}
	if _, err := os.Stat(h.dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("checking made something")
	}
}

func (s Suite) calls(t *testing.T) {
	h := s.home(t, NewMemory())
	l := h.open(t, nil)
	before := h.commit(t, l, "1")
	none := domarkx.ObjectValue()
	_, err := l.Call(t.Context(), "no-such-resource", s.Read)
	expect(t, "an unknown resource", err, domarkx.CodeNoResource)
	_, err = l.Call(t.Context(), resource, domarkx.Call{Tool: "no-such-tool", Arguments: none})
	expect(t, "an unknown tool", err, domarkx.CodeUnknownTool)
	odd := s.Read
	odd.Arguments = odd.Arguments.With("no-such-argument", domarkx.BoolValue(true))
	_, err = l.Call(t.Context(), resource, odd)
	expect(t, "an unknown argument", err, domarkx.CodeInvalid)
	for _, c := range s.Changes {
		for _, m := range c.Arguments.Members() {
			wrong := c
			wrong.Arguments = c.Arguments.With(m.Name, domarkx.ArrayValue(domarkx.ArrayValue(domarkx.BoolValue(true))))
			_, err = l.Call(t.Context(), resource, wrong)
			expect(t, "a wrong type of "+m.Name, err, domarkx.CodeInvalid)
		}
	}
	for code, c := range s.Refused {
		_, err := l.Call(t.Context(), resource, c)
		expect(t, c.Tool, err, code)
	}
	h.call(t, l, s.Read)
	h.holds(t, l, before)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Call(ended, resource, s.Read); !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose context ended: %v", err)
	}
}

func (s Suite) versions(t *testing.T) {
	h := s.home(t, NewMemory())
	l := h.open(t, nil)
	versions := []domarkx.Version{h.commit(t, l, "0")}
	for i, c := range s.Changes {
		h.call(t, l, c)
		if changed, err := l.Changed(t.Context()); !changed || err != nil {
			t.Errorf("after change %d: changed %v, %v", i, changed, err)
		}
		v := h.commit(t, l, string(rune('1'+i)))
		if v.Resources[0].Version == versions[i].Resources[0].Version {
			t.Errorf("change %d: the same version", i)
		}
		versions = append(versions, v)
	}
	for _, i := range append(order(len(versions)), 0, len(versions)-1) {
		h.load(t, l, versions[i])
		if l.Head() != versions[i].ID {
			t.Errorf("the head is %q, expected %q", l.Head(), versions[i].ID)
		}
		h.holds(t, l, versions[i])
		h.call(t, l, s.Read)
	}
}

// order counts down from n-1 to 0.
func order(n int) []int {
	var down []int
	for i := n - 1; i >= 0; i-- {
		down = append(down, i)
	}
	return down
}

func (s Suite) elsewhere(t *testing.T) {
	store := NewMemory()
	one := s.home(t, store)
	l := one.open(t, nil)
	for _, c := range s.Changes {
		one.call(t, l, c)
	}
	v := one.commit(t, l, "1")
	two := s.home(t, store)
	there := two.open(t, &v)
	two.holds(t, there, v)
	there.Close(t.Context())
	if err := two.m.Fork(t.Context(), "fork", v, nil); err != nil {
		t.Fatal(err)
	}
	defer two.m.TearDown(context.Background(), "fork")
	fork, err := two.m.Open(t.Context(), "fork", plugins.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close(context.Background())
	two.holds(t, fork, v)
	// The same calls give the same version anywhere.
	again := s.home(t, NewMemory())
	l = again.open(t, nil)
	for _, c := range s.Changes {
		again.call(t, l, c)
	}
	again.holds(t, l, v)
}

func (s Suite) takenUp(t *testing.T) {
	h := s.home(t, NewMemory())
	l := h.open(t, nil)
	h.commit(t, l, "1")
	h.call(t, l, s.Changes[0])
	h.close(t, l)
	l = h.open(t, nil)
	if changed, err := l.Changed(t.Context()); !changed || err != nil {
		t.Errorf("changed %v, %v after a change and taking it up", changed, err)
	}
	v := h.commit(t, l, "2")
	h.close(t, l)
	l = h.open(t, nil)
	h.holds(t, l, v)
	if l.Head() != "2" {
		t.Errorf("the head is %q", l.Head())
	}
}

// errInterrupted is what an interrupted store says.
var errInterrupted = errors.New("interrupted")

// failing is a store that fails after some reads.
type failing struct {
	*Memory
	left int
}

func (f *failing) Folder(ctx context.Context, id string) ([]domarkx.File, error) {
	if f.left--; f.left < 0 {
		return nil, errInterrupted
	}
	return f.Memory.Folder(ctx, id)
}

func (f *failing) Content(ctx context.Context, id string) (domarkx.Content, error) {
	if f.left--; f.left < 0 {
		return nil, errInterrupted
	}
	return f.Memory.Content(ctx, id)
}

func (s Suite) interruptedLoad(t *testing.T) {
	h := s.home(t, NewMemory())
	l := h.open(t, nil)
	first := h.commit(t, l, "0")
	for _, c := range s.Changes {
		h.call(t, l, c)
	}
	last := h.commit(t, l, "1")
	h.load(t, l, first)
	h.close(t, l)
	for reads := range 4 {
		store := &failing{h.store, reads}
		l, err := h.manager(t, store).Open(t.Context(), workspace, plugins.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = l.Load(t.Context(), last)
		if err == nil {
			h.close(t, l)
			break // it takes fewer reads
		}
		if !errors.Is(err, errInterrupted) {
			t.Errorf("after %d reads: %v", reads, err)
		}
		if changed, err := l.Changed(t.Context()); !changed || err != nil {
			t.Errorf("after %d reads: changed %v, %v, expected true", reads, changed, err)
		}
		h.close(t, l)
	}
	l = h.open(t, nil)
	h.load(t, l, last)
	h.holds(t, l, last)
	h.load(t, l, first)
	h.holds(t, l, first)
}

func (s Suite) pruned(t *testing.T) {
	h := s.home(t, NewMemory())
	l := h.open(t, nil)
	h.call(t, l, s.Changes[0])
	c, err := l.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Abort()
	h.store.Forget() // a version that was given up is pruned some day
	v := h.commit(t, l, "1")
	if v.Resources[0].Version != c.Resources[0].Version {
		t.Error("another version of the same state")
	}
	h.load(t, l, v)
	h.holds(t, l, v)
}

func (s Suite) tearDown(t *testing.T) {
	h := s.home(t, NewMemory())
	l := h.open(t, nil)
	h.call(t, l, s.Changes[0])
	h.close(t, l)
	if err := h.m.TearDown(t.Context(), workspace); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if f.Name() != ".claims" {
			t.Errorf("%q is left", f.Name())
		}
	}
	if s.Alive != nil && s.Alive(h.dir) {
		t.Error("something runs after tearing down")
	}
}
