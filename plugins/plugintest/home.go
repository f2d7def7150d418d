package plugintest

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
)

// home is an environment in which a workspace with the plugin is instantiated.
type home struct {
	s     Suite
	m     *plugins.WorkspaceManager
	store *Memory
	dir   string
	tree  string // work tree

	shared bool // by tests, one after the other
	// Only if it is shared:
	live        *plugins.Live   // the next test goes on with it
	first, last domarkx.Version // the state is the first one
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
		if h.live != nil {
			h.close(t, h.live)
		}
		if err := h.m.TearDown(context.Background(), workspace); err != nil {
			t.Errorf("tearing down: %v", err)
		}
	})
	return h
}

// manager returns a new manager of its instances, with another store.
func (h *home) manager(t *testing.T, store plugins.Versions) *plugins.WorkspaceManager {
	return plugins.New([]domarkx.Plugin{h.s.Plugin}, store, plugins.Config{Dir: h.dir, WorkTree: h.tree, Warn: func(m string) { t.Log(m) }})
}

func (s Suite) spec(config jsonvalue.Value) []domarkx.ResourceSpec {
	whole := jsonvalue.ObjectValue(append([]jsonvalue.Member{{Name: "type", Value: jsonvalue.StringValue(s.Plugin.Type())}}, config.Members()...)...)
	return []domarkx.ResourceSpec{{ID: resource, Type: s.Plugin.Type(), Config: whole}}
}

// open opens the workspace unless it is open; it is closed at the end of the test that began with [Suite.home].
func (h *home) open(t *testing.T, tip *domarkx.Version) *plugins.Live {
	t.Helper()
	if h.live != nil {
		return h.live
	}
	specs := h.s.spec(h.s.Config)
	p := MayOpen(workspace, specs)
	if tip != nil {
		p = MayLoad(workspace, *tip, permit.Shared, specs...)
	}
	l, err := h.m.Open(t.Context(), p, plugins.Options{Tip: tip})
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	if h.shared {
		h.live = l
	} else {
		t.Cleanup(func() { h.close(t, l) })
	}
	return l
}

func (h *home) close(t *testing.T, l *plugins.Live) {
	t.Helper()
	h.live = nil
	if err := l.Close(context.Background()); err != nil {
		t.Errorf("closing: %v", err)
	}
	if h.s.Alive != nil && h.s.Alive(h.dir) {
		t.Error("something runs after closing")
	}
	if n := h.store.Open(); n != 0 {
		t.Errorf("%d contents were not closed", n)
	}
}

// call makes a call that must succeed.
func (h *home) call(t *testing.T, l *plugins.Live, c domarkx.Call) {
	t.Helper()
	c, err := l.Defaults(t.Context(), resource, c)
	if err != nil {
		t.Fatalf("completing %s: %v", c.Tool, err)
	}
	r, err := l.Call(t.Context(), MayCall(workspace, resource, c))
	if err != nil {
		t.Fatalf("calling %s: %v", c.Tool, err)
	}
	if r.Attachment != nil {
		r.Attachment.Close()
	}
}

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
	if err := l.Load(t.Context(), MayLoad(workspace, v, permit.Shared), v); err != nil {
		t.Fatalf("loading: %v", err)
	}
}

// holds checks that the state equals that of a version.
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

func expect(t *testing.T, what string, err error, code string) {
	t.Helper()
	var tool *domarkx.ToolError
	if !errors.As(err, &tool) || tool.Code != code {
		t.Errorf("%s: %v, expected the code %q", what, err, code)
	} else if tool.Message == "" {
		t.Errorf("%s: no message", what)
	}
}
