package plugintest

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
)

func (s Suite) versions(t *testing.T, h *home) {
	l := h.open(t, nil)
	versions := []domarkx.Version{h.commit(t, l, "0")}
	for i, c := range s.changes() {
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
	loads := append(slices.Clone(versions), versions[len(versions)-1], versions[0]) // in reverse
	if h.shared {                                                                   // the test of interrupted loads goes from the first to the last one and back
		loads = versions
		h.first, h.last = versions[0], versions[len(versions)-1]
	}
	if s.fewer() {
		loads = versions[:1]
	}
	for _, v := range slices.Backward(loads) {
		h.load(t, l, v)
		if l.Head() != v.ID {
			t.Errorf("the head is %q, expected %q", l.Head(), v.ID)
		}
		h.holds(t, l, v)
		h.call(t, l, s.Read)
	}
}

func (s Suite) elsewhere(t *testing.T, one *home) {
	if s.fewer() {
		two := s.home(t, one.store)
		two.holds(t, two.open(t, &one.last), one.last)
		return
	}
	v := one.last
	if !one.shared {
		l := one.open(t, nil)
		for _, c := range s.changes() {
			one.call(t, l, c)
		}
		v = one.commit(t, l, "1")
	}
	two := s.home(t, one.store)
	there := two.open(t, &v)
	two.holds(t, there, v)
	there.Close(t.Context())
	if err := two.m.Fork(t.Context(), MayLoad("fork", v, permit.Private), v); err != nil {
		t.Fatal(err)
	}
	defer two.m.TearDown(context.Background(), "fork")
	fork, err := two.m.Open(t.Context(), MayOpen("fork", nil), plugins.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close(context.Background())
	two.holds(t, fork, v)
	// The same calls give the same version in another environment.
	again := s.home(t, NewMemory())
	l := again.open(t, nil)
	for _, c := range s.changes() {
		again.call(t, l, c)
	}
	again.holds(t, l, v)
}

func (s Suite) takenUp(t *testing.T, h *home) {
	l := h.open(t, nil)
	if s.fewer() { // the test before this one loaded the last version
		h.call(t, l, s.Changes[len(s.changes())])
	} else {
		if !h.shared { // else the test before this one loaded the first version
			h.commit(t, l, "1")
		}
		h.call(t, l, s.Changes[0])
	}
	h.close(t, l)
	l = h.open(t, nil)
	if changed, err := l.Changed(t.Context()); !changed || err != nil {
		t.Errorf("changed %v, %v after a change and a new start", changed, err)
	}
	v := h.commit(t, l, "2")
	h.close(t, l)
	l = h.open(t, nil)
	h.holds(t, l, v)
	if l.Head() != "2" {
		t.Errorf("the head is %q", l.Head())
	}
}

// errInterrupted is the error of an interrupted store.
var errInterrupted = errors.New("interrupted")

// failing is a store that fails after a number of reads.
type failing struct {
	*Memory
	left int
}

func (f *failing) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	if f.left--; f.left < 0 {
		return nil, errInterrupted
	}
	return f.Memory.Directory(ctx, id)
}

func (f *failing) Content(ctx context.Context, id string) (domarkx.Content, error) {
	if f.left--; f.left < 0 {
		return nil, errInterrupted
	}
	return f.Memory.Content(ctx, id)
}

// interrupts reports whether the suite interrupts a load after a number of reads.
func (s Suite) interrupts(reads int) bool {
	switch {
	case s.fewer():
		return reads == s.Costly
	case s.shared() && os.Getenv("SOAK") == "":
		return reads == 0 || reads == s.Costly
	}
	return !testing.Short() || reads%3 == 0
}

func (s Suite) interruptedLoad(t *testing.T, h *home) {
	l := h.open(t, nil)
	first, last := h.first, h.last
	if !h.shared {
		first = h.commit(t, l, "0")
		for _, c := range s.changes() {
			h.call(t, l, c)
		}
		last = h.commit(t, l, "1")
		h.load(t, l, first)
	}
	h.close(t, l)
	half := false
	for reads := range 8 {
		if !s.interrupts(reads) {
			continue
		}
		if half { // the next load is complete
			h.restore(t, first)
		}
		store := &failing{h.store, reads}
		l, err := h.manager(t, store).Open(t.Context(), MayOpen(workspace, nil), plugins.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = l.Load(t.Context(), MayLoad(workspace, last, permit.Shared), last)
		if err == nil {
			h.close(t, l)
			if h.shared && reads <= s.Costly {
				t.Errorf("a load needs only %d reads, so none was interrupted", reads)
			}
			break // the load needs fewer reads
		}
		if !errors.Is(err, errInterrupted) {
			t.Errorf("after %d reads: %v", reads, err)
		}
		half = l.Unfinished() != nil
		if changed, err := l.Changed(t.Context()); half && !changed || err != nil {
			t.Errorf("after %d reads: changed %v, %v, expected true", reads, changed, err)
		}
		if !half { // nothing has changed yet
			h.holds(t, l, first)
		}
		h.close(t, l)
	}
	l = h.open(t, nil)
	h.load(t, l, last)
	h.holds(t, l, last)
	if s.fewer() {
		return
	}
	h.load(t, l, first)
	h.holds(t, l, first)
}

// restore loads a version after a load of another one failed.
func (h *home) restore(t *testing.T, v domarkx.Version) {
	t.Helper()
	l := h.open(t, nil)
	h.load(t, l, v)
	h.close(t, l)
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
	h.store.Forget() // contents of a discarded version are pruned eventually
	v := h.commit(t, l, "1")
	if v.Resources[0].Version != c.Resources[0].Version {
		t.Error("another version of the same state")
	}
	h.load(t, l, v)
	h.holds(t, l, v)
}
