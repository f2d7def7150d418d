package main

import (
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/checkout"
)

type workspaceCheckoutCmd struct {
	pathOption
	Yes      bool        `help:"Write what the help of checkout names as risky, too."`
	Revision revisionArg `arg:"" name:"WS[@OID]" of:"message" help:"A workspace, WS~2 or WS@OID."`
	Dir      string      `arg:"" name:"DIR" help:"A directory that is empty or not there."`
}

func (c *workspaceCheckoutCmd) Run(inv *invocation, opened managers) error {
	v, err := opened.sessions.ResolveVersion(inv.ctx, c.Revision.Revision)
	if err != nil {
		return err
	}
	return c.checkOut(inv, opened, checkout.Request{Of: engine.Revision{Name: c.Revision.Name, Message: -1}, Version: v, Dir: c.Dir, Yes: c.Yes})
}
