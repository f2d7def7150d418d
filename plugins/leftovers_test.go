package plugins_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// leaving is a plugin whose resources leave something behind.
type leaving struct {
	fake
	left []plugins.Leftover
	err  error
}

func (*leaving) Type() string { return "leaving" }

func (p *leaving) Leftovers(context.Context, string) ([]plugins.Leftover, error) {
	return p.left, p.err
}

func (p *leaving) RemoveLeftover(_ context.Context, o plugins.Leftover) error {
	p.left = slices.DeleteFunc(p.left, func(l plugins.Leftover) bool { return l.ID == o.ID })
	return nil
}

func TestLeftovers(t *testing.T) {
	w := newWorld(t)
	p := &leaving{left: []plugins.Leftover{{What: "thing 1", ID: "1"}}}
	w.m = plugins.New([]domarkx.Plugin{w.p, p}, w.store, w.config)
	if found, err := w.m.Leftovers(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("%v, %v where nothing was made", found, err)
	}
	w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	found, err := w.m.Leftovers(t.Context())
	if err != nil || len(found) != 1 || found[0].Type != "leaving" {
		t.Fatalf("%v, %v", found, err)
	}
	if err := w.m.RemoveLeftover(t.Context(), found[0]); err != nil || len(p.left) != 0 {
		t.Error(err, p.left)
	}
	if err := w.m.RemoveLeftover(t.Context(), plugins.Leftover{Type: "fake"}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Error(err)
	}
	p.err = errors.New("broken")
	if _, err := w.m.Leftovers(t.Context()); !errors.Is(err, p.err) {
		t.Error(err)
	}
}

// TestEachResourceWhileRenaming renames an instance during the walk; its resource must be visited.
func TestEachResourceWhileRenaming(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"b/1", "z/1"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	err := plugins.EachResource(t.Context(), root, func(dir string) error {
		if len(seen) == 0 {
			if err := os.Rename(filepath.Join(root, "z"), filepath.Join(root, "a")); err != nil {
				return err
			}
		}
		rel, err := filepath.Rel(root, dir)
		seen = append(seen, filepath.ToSlash(rel))
		return err
	})
	if want := []string{"b/1", "a/1", "b/1"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("%v, %v, want %v", seen, err, want)
	}
}
