package trust

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
)

// An Authorizer prevents running anything that the user has neither trusted nor approved.
type Authorizer struct {
	m        *Manager
	approve  func(ctx context.Context, e *UntrustedError) (bool, error)
	Approved map[Digest]bool
	Trusted  bool   // whether the last successful check found the session trusted, not only approved
	Added    Digest // digest of what runs besides the document, at the last successful check
}

// NewAuthorizer returns an authorizer that calls approve, if it is not nil, for what the user has not trusted.
func (m *Manager) NewAuthorizer(approve func(context.Context, *UntrustedError) (bool, error)) *Authorizer {
	return &Authorizer{m: m, approve: approve, Approved: map[Digest]bool{}}
}

// Check returns an *UntrustedError unless everything that a snapshot runs is trusted or approved.
// An approval remains valid until the session changes what it runs.
func (g *Authorizer) Check(ctx context.Context, info domarkx.Info) error {
	if err := g.m.ReadProject(); err != nil {
		return err
	}
	all, added, err := g.m.Digests(ctx, info)
	d := all.Whole
	g.Added = added
	if err != nil {
		return err
	}
	if g.Trusted, err = g.m.Trusts(ctx, d); err != nil || g.Trusted || g.Approved[d] {
		return err
	}
	untrusted := &UntrustedError{Session: info.Name}
	if untrusted.Listing, err = g.m.Listing(ctx, info); err != nil {
		return err
	}
	return g.ask(ctx, untrusted, d)
}

// CheckSettled is like [Authorizer.Check] for everything but pending calls.
func (g *Authorizer) CheckSettled(ctx context.Context, info domarkx.Info) error {
	d, added, err := g.m.Digests(ctx, info)
	if err != nil {
		return err
	}
	held, err := g.m.Trusts(ctx, d.Settled)
	if err != nil {
		return err
	}
	if !held && !g.Approved[d.Settled] {
		if err := g.Check(ctx, info); err != nil {
			return err
		}
		g.Approved[d.Settled] = true // an approval of the whole session includes the session without some of its calls
		return g.m.Grow(ctx, Digests{d.Settled, d.Settled}, info.Name, d)
	}
	g.Approved[d.Settled], g.Trusted, g.Added = true, held, added
	return g.m.ReadProject()
}

// ask asks the user to approve what has a digest, and returns untrusted if that fails.
func (g *Authorizer) ask(ctx context.Context, untrusted *UntrustedError, d Digest) error {
	if g.approve == nil {
		return untrusted
	}
	yes, err := g.approve(ctx, untrusted)
	if err != nil {
		return err
	}
	if !yes {
		return untrusted
	}
	g.Approved[d] = true
	return nil
}

// Follow extends an approval to a session's next content, in which this program recorded a result.
func (g *Authorizer) Follow(was, now Digests) {
	g.Approved[now.Whole] = g.Approved[now.Whole] || g.Approved[was.Whole]
	g.Approved[now.Settled] = g.Approved[now.Settled] || g.Approved[was.Settled]
}

// Covers returns an error if what runs besides the document has changed since the last check.
func (g *Authorizer) Covers(added *Runs) error {
	if added.Digest() == g.Added {
		return nil
	}
	return fmt.Errorf("%s or its workspace changed meanwhile: %w; nothing was run; try again", project.File, domarkx.ErrConflict)
}
