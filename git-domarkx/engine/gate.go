package engine

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
)

// A gate prevents running anything that the user has neither trusted nor approved.
type gate struct {
	m        *SessionManager
	approve  func(ctx context.Context, e *UntrustedError) (bool, error)
	approved map[trustDigest]bool
	trusted  bool        // whether the last successful check found the session trusted, not only approved
	added    trustDigest // digest of what runs besides the document, at the last successful check
}

func (m *SessionManager) newGate(approve func(context.Context, *UntrustedError) (bool, error)) *gate {
	return &gate{m: m, approve: approve, approved: map[trustDigest]bool{}}
}

// check returns an *UntrustedError unless everything that a snapshot runs is trusted or approved.
// An approval remains valid until the session changes what it runs.
func (g *gate) check(ctx context.Context, info domarkx.Info) error {
	if err := g.m.readProject(); err != nil {
		return err
	}
	d, added, err := g.m.digestWith(ctx, info)
	g.added = added
	if err != nil {
		return err
	}
	if g.trusted, err = g.m.trusts(ctx, d); err != nil || g.trusted || g.approved[d] {
		return err
	}
	untrusted := &UntrustedError{Session: info.Name}
	if untrusted.Listing, err = g.m.Listing(ctx, info); err != nil {
		return err
	}
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
	g.approved[d] = true
	return nil
}

// covers returns an error if what runs besides the document has changed since the last check.
func (g *gate) covers(added *Runs) error {
	if added.digest() == g.added {
		return nil
	}
	return fmt.Errorf("%s or its workspace changed meanwhile: %w; nothing was run; try again", project.File, domarkx.ErrConflict)
}
