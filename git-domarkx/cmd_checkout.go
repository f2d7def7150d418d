package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/engine/checkout"
)

type checkoutCmd struct {
	pathOption
	Yes      bool        `help:"Write set-id bits, capabilities, devices and nested repositories of an untrusted session, nested repositories that run programs, and owners and devices where this user may."`
	Revision revisionArg `arg:"" name:"NAME[#K]" of:"session" help:"A session, NAME~2, NAME@OID, or a message of one."`
	Dir      string      `arg:"" name:"DIR" help:"A directory that is empty or not there."`
}

func (c *checkoutCmd) Run(inv *invocation, opened managers) error {
	v, err := opened.sessions.VersionAt(inv.ctx, c.Revision.Revision)
	if err != nil {
		return err
	}
	return c.checkOut(inv, opened, checkout.Request{Of: c.Revision.Revision, Version: v, Dir: c.Dir, Yes: c.Yes})
}

// checkOut writes a version to a directory. It warns about everything that it could not write exactly.
func (o pathOption) checkOut(inv *invocation, opened managers, r checkout.Request) error {
	left, err := opened.checkouts.Checkout(inv.ctx, r)
	if err != nil {
		return err
	}
	for _, what := range left {
		inv.warn(fmt.Errorf("warning: %s", what))
	}
	return o.printPath(inv, r.Dir)
}
