package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// strict refuses a version that no reader gets through.
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
	l := w.open("s", plugins.Options{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}})
	w.set(l, "a", "one")
	one := w.commit(l, "1")
	w.set(l, "a", "two")
	one.Resources = slices.Clone(one.Resources[:1]) // else b would be kept
	store.bad = one.Resources[0].Version
	var at *plugins.ResourceError
	if err := l.Load(t.Context(), one); !errors.Is(err, domarkx.ErrCorrupt) || !errors.As(err, &at) || at.Resource != "a" {
		t.Errorf("loading what cannot be loaded: %v", err)
	}
	if got := w.get(l, "a"); got != "two" || len(l.Specs()) != 2 {
		t.Errorf("it holds %q in %d resources afterwards", got, len(l.Specs()))
	}
}
