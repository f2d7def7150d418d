package main

import "github.com/domarkx/domarkx/git-domarkx/find/compare"

type workspaceDiffCmd struct {
	A revisionArg `arg:"" name:"A" of:"message" help:"A version: the old side. WS, WS~2, WS@OID, or the message NAME#K of a session."`
	B revisionArg `arg:"" name:"B" of:"message" help:"The new side."`
}

func (c *workspaceDiffCmd) Run(inv *invocation, opened managers) error {
	a, err := opened.sessions.ResolveVersion(inv.ctx, c.A.Revision)
	if err != nil {
		return err
	}
	b, err := opened.sessions.ResolveVersion(inv.ctx, c.B.Revision)
	if err != nil {
		return err
	}
	differ := false
	err = compare.Versions(inv.ctx, opened.store, a, b, func(text []byte) error {
		if !differ {
			differ = true
			if err := inv.page(); err != nil {
				return err
			}
		}
		return writeDiff(inv, text)
	})
	if err != nil {
		return err
	}
	if differ {
		return errNo
	}
	return nil
}
