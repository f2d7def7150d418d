package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// strict refuses a version as corrupt in CheckVersion.
type strict struct {
	*plugintest.Memory
	bad string
}

func (s *strict) CheckVersion(_ context.Context, _, version string) error {
	if version == s.bad {
		return fmt.Errorf("it is endless: %w", domarkx.ErrCorrupt)
	}
	return nil
}

func TestLoadRefusesBeforeItRemoves(t *testing.T) {
	w := newWorld(t)
	store := &strict{Memory: w.store}
	w.renew(store)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}})
	w.set(l, "a", "one")
	one := w.commit(l, "1")
	w.set(l, "a", "two")
	one.Resources = slices.Clone(one.Resources[:1]) // so that a load would remove b
	store.bad = one.Resources[0].Version
	var at *plugins.ResourceError
	if err := l.Load(t.Context(), may(l, one), one); !errors.Is(err, domarkx.ErrCorrupt) || !errors.As(err, &at) || at.Resource != "a" {
		t.Errorf("loading what cannot be loaded: %v", err)
	}
	if got := w.get(l, "a"); got != "two" || len(l.Specs()) != 2 {
		t.Errorf("it holds %q in %d resources afterwards", got, len(l.Specs()))
	}
}

// TestFailedLoadIsNoChange checks that the state after a failed load is not committed and that no
// tool runs on it, until that load succeeds or another version is loaded.
func TestFailedLoadIsNoChange(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}})
	w.set(l, "a", "one")
	w.set(l, "b", "one")
	one := w.commit(l, "1")
	w.set(l, "a", "two")
	two := w.commit(l, "2")
	bad := domarkx.Version{ID: "3", Resources: slices.Clone(one.Resources)}
	bad.Resources[1].Version = "none"
	half := func(l *plugins.Live) {
		t.Helper()
		if err := l.Unfinished(); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), "version 3 was loaded only in part") || !strings.Contains(err.Error(), "rewind") {
			t.Errorf("unfinished: %v", err)
		}
		if _, err := l.Commit(t.Context()); !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("committed: %v", err)
		}
		var e *domarkx.ToolError
		if _, err := l.Call(t.Context(), plugintest.MayCall(l.Name(), "a", domarkx.Call{Tool: "get", Arguments: jsonvalue.ObjectValue()})); !errors.As(err, &e) || e.Code != domarkx.CodeBroken {
			t.Errorf("called: %v", err)
		}
		if changed, err := l.Differs(t.Context()); !changed || err != nil || l.Head() != "2" {
			t.Error(changed, err, l.Head())
		}
	}
	if err := l.Load(t.Context(), may(l, bad), bad); !errors.Is(err, domarkx.ErrNotFound) {
		t.Error(err)
	}
	half(l)
	l.Close(t.Context())
	w.renew(w.store)
	if i, err := w.m.Instance(t.Context(), "s"); i.Loading != "3" || err != nil {
		t.Error(i, err)
	}
	l = w.open("s", opening{})
	half(l)
	if err := l.Load(t.Context(), may(l, two), two); err != nil || l.Unfinished() != nil || w.get(l, "a") != "two" || w.get(l, "b") != "one" {
		t.Error(err, l.Unfinished())
	}
	if changed, err := l.Changed(t.Context()); changed || err != nil {
		t.Error(changed, err)
	}
	// The missing object is back: the next process finishes the load.
	if err := l.Load(t.Context(), may(l, bad), bad); err == nil {
		t.Error("loaded")
	}
	l.Close(t.Context())
	w.renew(&mended{w.store, one.Resources[1].Version})
	l = w.open("s", opening{})
	if err := l.Unfinished(); err != nil || l.Head() != "3" || w.get(l, "a") != "one" || w.get(l, "b") != "one" {
		t.Error(err, l.Head())
	}
	if len(w.warns) > 0 {
		t.Error(w.warns)
	}
}

// mended is a store in which a missing version can be restored.
type mended struct {
	*plugintest.Memory
	version string
}

func (m *mended) Top(ctx context.Context, version string) (domarkx.File, error) {
	if version == "none" {
		version = m.version
	}
	return m.Memory.Top(ctx, version)
}

// TestLoadIsCheckedFirst checks that a version is refused before any resource changes, if one
// resource cannot hold it.
func TestLoadIsCheckedFirst(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}})
	w.set(l, "b", "too much")
	one := w.commit(l, "1")
	w.set(l, "b", "two")
	w.set(l, "a", "two")
	w.commit(l, "2")
	w.p.refuses = one.Resources[1].Version
	var at *plugins.ResourceError
	if err := l.Load(t.Context(), may(l, one), one); !errors.Is(err, domarkx.ErrInvalid) || !errors.As(err, &at) || at.Resource != "b" {
		t.Error(err)
	}
	if changed, err := l.Changed(t.Context()); changed || err != nil || l.Unfinished() != nil || l.Head() != "2" || w.get(l, "a") != "two" {
		t.Error(changed, err, l.Unfinished())
	}
}

// TestUnfinishedIsKept changes files after a failed load. The change must be kept exactly once,
// and the state that the load itself left must not be kept.
func TestUnfinishedIsKept(t *testing.T) {
	w := newWorld(t)
	var kept []string
	o := opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}, Keep: func(_ context.Context, c *plugins.Changes) error {
		kept = append(kept, c.Resources[0].Version)
		return c.Settle()
	}}
	l := w.open("s", o)
	w.set(l, "a", "one")
	bad := w.commit(l, "1")
	bad.ID, bad.Resources = "2", slices.Clone(bad.Resources)
	bad.Resources[1].Version = "none"
	w.set(l, "a", "two")
	w.commit(l, "3")
	if err := l.Load(t.Context(), may(l, bad), bad); !errors.Is(err, domarkx.ErrNotFound) || len(kept) != 0 {
		t.Error(err, kept)
	}
	l.Close(t.Context())
	again := func(want int) {
		t.Helper()
		for range 3 {
			w.renew(w.store)
			l = w.open("s", o)
			if err := l.Unfinished(); !errors.Is(err, domarkx.ErrNotFound) {
				t.Error(err)
			}
			if err := l.Load(t.Context(), may(l, bad), bad); !errors.Is(err, domarkx.ErrNotFound) {
				t.Error(err)
			}
			l.Close(t.Context())
		}
		if len(kept) != want {
			t.Errorf("what was there was kept %d times, want %d", len(kept), want)
		}
	}
	again(0)
	if err := os.WriteFile(filepath.Join(w.config.Dir, "s", "1", "text"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	again(1)
	top, err := w.store.Top(t.Context(), kept[0])
	if err != nil {
		t.Fatal(err)
	}
	if files, err := w.store.Directory(t.Context(), top.ID); err != nil || files[0].Size != int64(len("mine")) {
		t.Error(files, err)
	}
}

// TestUnfinishedAtPath checks that a load that failed at a path that was vacant continues there,
// and not in a private copy beside its own files.
func TestUnfinishedAtPath(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"path": "data"}`)}})
	w.set(l, "a", "one")
	one := w.commit(l, "1")
	l.Close(t.Context())
	path := filepath.Join(w.config.WorkTree, "data")
	if err := errors.Join(os.RemoveAll(w.config.Dir), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	bad := domarkx.Version{ID: one.ID, Resources: slices.Clone(one.Resources)}
	bad.Resources[0].Version = "none"
	if _, err := w.try(t.Context(), "s", opening{Tip: &bad}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Fatal(err)
	}
	w.renew(&mended{w.store, one.Resources[0].Version})
	l = w.open("s", opening{Tip: &bad})
	if data, err := os.ReadFile(path); string(data) != "one" || l.Unfinished() != nil || len(w.warns) > 0 {
		t.Errorf("%q, %v, %v, warned %q", data, err, l.Unfinished(), w.warns)
	}
}

// TestUnfinishedBeforePath interrupts a load before it has compared the content at the path of a
// new resource. The resumed load must not change that content.
func TestUnfinishedBeforePath(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	w.set(l, "a", "one")
	one := w.commit(l, "1")
	two := domarkx.Version{ID: "2", Resources: append(slices.Clone(one.Resources),
		domarkx.ResourceVersion{ResourceSpec: spec(t, "b", `{"path": "data"}`), Version: one.Resources[0].Version})}
	path := filepath.Join(w.config.WorkTree, "data")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Close(t.Context())
	kept := 0
	o := opening{Keep: func(_ context.Context, c *plugins.Changes) error { kept += len(c.Resources); return c.Settle() }}
	full := errors.New("the disk is full")
	w.renew(&beginless{w.store, full})
	l = w.open("s", o)
	if err := l.Load(t.Context(), may(l, two), two); !errors.Is(err, full) {
		t.Errorf("loaded: %v", err)
	}
	l.Close(t.Context())
	w.renew(w.store)
	l = w.open("s", o)
	if data, err := os.ReadFile(path); string(data) != "mine" || l.Unfinished() != nil || w.get(l, "b") != "one" || len(w.warns) != 1 {
		t.Errorf("%q, %v, %v, warned %q", data, err, l.Unfinished(), w.warns)
	}
	if kept > 1 { // only a may be kept
		t.Errorf("what is at the path was kept")
	}
}

// beginless is a store that accepts no versions.
type beginless struct {
	*plugintest.Memory
	err error
}

func (b *beginless) Begin(context.Context, string) (plugins.Pending, error) { return nil, b.err }

// TestUnfinishedOpensNoOthers resumes a load when the live resources are opened. It must open only the
// resources that the original load was permitted, since the version may be from anybody.
func TestUnfinishedOpensNoOthers(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	w.set(l, "a", "one")
	one := w.commit(l, "1")
	l.Close(t.Context())
	two := domarkx.Version{ID: "2", Resources: append(slices.Clone(one.Resources),
		domarkx.ResourceVersion{ResourceSpec: spec(t, "b", `{"path": "theirs"}`), Version: one.Resources[0].Version})}
	two.Resources[0].Version = "none"
	l = w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	if err := l.Load(t.Context(), plugintest.MayLoad("s", two, permit.Shared, spec(t, "a", `{}`)), two); err == nil {
		t.Error("loaded")
	}
	l.Close(t.Context())
	w.renew(&mended{w.store, one.Resources[0].Version})
	l = w.open("s", opening{Existing: true})
	if specs := l.Specs(); len(specs) != 1 || l.Unfinished() != nil {
		t.Errorf("it has %v, %v", specs, l.Unfinished())
	}
	if _, err := os.Lstat(filepath.Join(w.config.WorkTree, "theirs")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a resource works in the work tree that nobody asked for: %v", err)
	}
}

// cancelling is a store that cancels a context while a version is read, to simulate a kill.
type cancelling struct {
	plugins.Versions
	cancel func()
}

func (c cancelling) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	c.cancel()
	return nil, ctx.Err()
}

func TestInterruptedLoadIsFinished(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	w.set(l, "a", "one")
	one := w.commit(l, "1")
	w.set(l, "a", "two")
	w.commit(l, "2")
	l.Close(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	w.renew(cancelling{w.store, cancel})
	l = w.open("s", opening{})
	if err := l.Load(ctx, may(l, one), one); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	l.Close(t.Context())
	w.renew(w.store)
	if i, err := w.m.Instance(t.Context(), "s"); !i.Interrupted || err != nil {
		t.Error(i, err)
	}
	l = w.open("s", opening{})
	if changed, err := l.Changed(t.Context()); changed || err != nil || l.Head() != "1" || w.get(l, "a") != "one" {
		t.Error(changed, err, l.Head(), w.get(l, "a"))
	}
	l.Close(t.Context())
	// The next process finishes the load of a new instance.
	ctx, cancel = context.WithCancel(t.Context())
	w.renew(cancelling{w.store, cancel})
	if _, err := w.try(ctx, "new", opening{Tip: &one}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.renew(w.store)
	l = w.open("new", opening{Tip: &one})
	if l.Head() != "1" || w.get(l, "a") != "one" {
		t.Error(l.Head(), w.get(l, "a"))
	}
}
