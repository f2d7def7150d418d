package plugins_test

import (
	"context"
	"errors"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// losing is a plugin whose resource "a" is lost while the test says so, until it is loaded.
type losing struct {
	fake
	lost  error
	final bool
}

type lostResource struct {
	domarkx.Resource
	p *losing
}

func (p *losing) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	r, err := p.fake.Open(ctx, env)
	if env.Resource != "a" {
		return r, err
	}
	return &lostResource{r, p}, err
}

func (r *lostResource) Lost() (error, bool) { return r.p.lost, r.p.lost != nil && r.p.final }

func (r *lostResource) Changed(ctx context.Context) (bool, error) {
	if r.p.lost != nil {
		return true, nil
	}
	return r.Resource.Changed(ctx)
}

func (r *lostResource) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	if r.p.lost != nil {
		return r.p.lost
	}
	return r.Resource.Commit(ctx, w)
}

func (r *lostResource) Load(ctx context.Context, v domarkx.VersionReader, version string) error {
	r.p.lost = nil
	return r.Resource.Load(ctx, v, version)
}

func TestLost(t *testing.T) {
	w := newWorld(t)
	p := &losing{}
	var told []string
	w.config.Warn = func(m string) { told = append(told, m) }
	again := func() *plugins.Live {
		w.m = plugins.New([]domarkx.Plugin{p}, w.store, w.config)
		return w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}})
	}
	l := again()
	w.set(l, "a", "first")
	first := w.commit(l, "1")
	w.set(l, "a", "second")
	w.commit(l, "2")
	w.set(l, "a", "in no version")
	w.set(l, "b", "in no version")
	l.Close(t.Context())

	// The loss may be temporary, so the resource is not loaded again. Changes of others are
	// committed, and another version can be loaded.
	p.lost = errors.New("somewhere else")
	l = again()
	c, err := l.Commit(t.Context())
	if err != nil || !c.Changed {
		t.Fatalf("committing what is there: changed %v, %v", c != nil && c.Changed, err)
	}
	c.Abort()
	if err := l.Load(t.Context(), may(l, first), first); err != nil {
		t.Fatal(err)
	}
	if got := w.get(l, "a"); got != "first" || p.lost != nil {
		t.Errorf("after a load: %q, %v", got, p.lost)
	}
	w.set(l, "b", "kept")
	l.Close(t.Context())

	// The loss is final: only this resource is loaded, from its last version.
	p.lost, p.final = errors.New("removed"), true
	told = nil
	l = again()
	if a, b := w.get(l, "a"), w.get(l, "b"); a != "first" || b != "kept" {
		t.Errorf("a holds %q, b %q", a, b)
	}
	if len(told) != 1 {
		t.Errorf("told %q, expected one warning", told)
	}
	l.Close(t.Context())
}
