package plugintest

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// A Suite describes a plugin and the calls with which to test it.
type Suite struct {
	Plugin domarkx.Plugin
	// Config of a resource, without "type" and "id".
	Config jsonvalue.Value
	// Changes are calls that each change the state to a new one, in this order.
	Changes []domarkx.Call
	// Read is a call that changes nothing and works in every state.
	Read domarkx.Call
	// ReadOnly are the names of the tools that a user can approve at once, because they change nothing.
	ReadOnly []string
	// Dump says that a version has to load as it is, so that no redaction edits it.
	Dump bool
	// Refused are calls with valid arguments that fail, by the code of their error.
	Refused map[string]domarkx.Call
	// Invalid are configs that the schema must reject.
	Invalid []jsonvalue.Value
	// Alive, unless nil, reports whether a process runs that the resources in a directory
	// started.
	Alive func(dir string) bool
	// Costly, unless 0, says that resources take long to create and start, and versions to commit
	// and load: most tests share one, and a load is interrupted before its first read and after this
	// number of reads, unless SOAK is set. With -short, there are fewer states, too.
	Costly int
}

// shared reports whether each test begins in the state in which the one before it ends.
func (s Suite) shared() bool { return s.Costly > 0 && len(s.Changes) > 1 }

// fewer reports whether the suite leaves out what repeats a check with another state.
func (s Suite) fewer() bool { return s.shared() && testing.Short() }

// changes returns the changes that tests make to reach several states.
func (s Suite) changes() []domarkx.Call {
	if s.fewer() { // one is left for a test that begins in the last state
		return s.Changes[:min(2, len(s.Changes)-1)]
	}
	return s.Changes
}

// Run checks that a plugin follows the rules for all resource types.
func Run(t *testing.T, s Suite) {
	t.Run("describe", s.describe)
	t.Run("config", s.config)
	var one *home
	if s.shared() {
		one = s.home(t, NewMemory())
		one.shared = true
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, *home)
	}{
		{"calls", s.calls},
		{"versions", s.versions},
		{"elsewhere", s.elsewhere},
		{"interrupted load", s.interruptedLoad},
		{"taken up", s.takenUp},
		{"tear down", s.tearDown},
	} {
		t.Run(test.name, func(t *testing.T) {
			if one != nil {
				test.run(t, one)
			} else {
				test.run(t, s.home(t, NewMemory()))
			}
		})
	}
	if !s.fewer() {
		t.Run("pruned", s.pruned)
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
	if d.Source == "" || d.Config.Kind() != jsonvalue.Object {
		t.Errorf("source %q, config schema %s", d.Source, d.Config.JSON())
	}
	var readOnly []string
	for _, tool := range d.Tools {
		if tool.ReadOnly {
			readOnly = append(readOnly, tool.Name)
		}
		if tool.Name == "" || tool.Description == "" || tool.Schema.Kind() != jsonvalue.Object {
			t.Errorf("tool %q: description %q, schema %s", tool.Name, tool.Description, tool.Schema.JSON())
		}
	}
	if !slices.Equal(readOnly, s.ReadOnly) || d.Dump != s.Dump {
		t.Errorf("read-only tools are %q, want %q; dump is %t, want %t", readOnly, s.ReadOnly, d.Dump, s.Dump)
	}
}

func (s Suite) config(t *testing.T) {
	h := s.home(t, NewMemory())
	if err := h.m.Check(t.Context(), s.spec(s.Config)); err != nil {
		t.Error(err)
	}
	unknown := s.Config.With("no-such-key", jsonvalue.BoolValue(true))
	for _, config := range append([]jsonvalue.Value{unknown}, s.Invalid...) {
		var at *syntax.Error
		if err := h.m.Check(t.Context(), s.spec(config)); !errors.As(err, &at) || at.Pointer == "" {
			t.Errorf("config %s: %v, expected an error with a position", config.JSON(), err)
		}
	}
	if _, err := os.Stat(h.dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("checking made something")
	}
}

func (s Suite) calls(t *testing.T, h *home) {
	l := h.open(t, nil)
	before := h.commit(t, l, "1")
	none := jsonvalue.ObjectValue()
	_, err := l.Call(t.Context(), MayCall(workspace, "no-such-resource", s.Read))
	expect(t, "an unknown resource", err, domarkx.CodeNoResource)
	_, err = l.Call(t.Context(), MayCall(workspace, resource, domarkx.Call{Tool: "no-such-tool", Arguments: none}))
	expect(t, "an unknown tool", err, domarkx.CodeUnknownTool)
	odd := s.Read
	odd.Arguments = odd.Arguments.With("no-such-argument", jsonvalue.BoolValue(true))
	_, err = l.Call(t.Context(), MayCall(workspace, resource, odd))
	expect(t, "an unknown argument", err, domarkx.CodeInvalid)
	for _, c := range s.Changes {
		for _, m := range c.Arguments.Members() {
			wrong := c
			wrong.Arguments = c.Arguments.With(m.Name, jsonvalue.ArrayValue(jsonvalue.ArrayValue(jsonvalue.BoolValue(true))))
			_, err = l.Call(t.Context(), MayCall(workspace, resource, wrong))
			expect(t, "a wrong type of "+m.Name, err, domarkx.CodeInvalid)
		}
	}
	for code, c := range s.Refused {
		_, err := l.Call(t.Context(), MayCall(workspace, resource, c))
		expect(t, c.Tool, err, code)
	}
	h.call(t, l, s.Read)
	h.holds(t, l, before)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Call(ended, MayCall(workspace, resource, s.Read)); !errors.Is(err, context.Canceled) {
		t.Errorf("a call after its context ended: %v", err)
	}
}

func (s Suite) tearDown(t *testing.T, h *home) {
	l := h.open(t, nil)
	if !h.shared { // else the test before it did
		h.call(t, l, s.Changes[0])
	}
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
			t.Errorf("%q was left behind", f.Name())
		}
	}
	if s.Alive != nil && s.Alive(h.dir) {
		t.Error("something runs after tearing down")
	}
}
