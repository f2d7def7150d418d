package main

import (
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

type workspaceDiffCmd struct {
	A string `arg:"" name:"A" help:"A version: the old side. WS, WS~2, WS@OID, or the message NAME#K of a session."`
	B string `arg:"" name:"B" help:"The new side."`
}

func (c *workspaceDiffCmd) Run(inv *invocation) error {
	opened, err := inv.open()
	if err != nil {
		return err
	}
	var sides [2]domarkx.Version
	for i, name := range []string{c.A, c.B} {
		revision, err := engine.ParseRevision(name)
		if err != nil {
			return err
		}
		if revision.Message >= 0 {
			if err := inv.complete(&revision.Name); err != nil {
				return err
			}
		}
		if sides[i], err = opened.sessions.ResolveVersion(inv.ctx, revision); err != nil {
			return err
		}
	}
	differ := false
	err = compare.Versions(inv.ctx, opened.store, sides[0], sides[1], func(text []byte) error {
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
