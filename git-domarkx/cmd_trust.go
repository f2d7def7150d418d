package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

type trustCmd struct {
	jsonOption
	Revoke bool   `help:"Take the trust back."`
	Name   string `arg:"" name:"NAME" help:"The session."`
}

func (c *trustCmd) Run(inv *invocation) error {
	opened, err := inv.openFor(&c.Name)
	if err != nil {
		return err
	}
	status := trust.Trusted
	if c.Revoke {
		if status, err = opened.trust.Revoke(inv.ctx, c.Name); err != nil {
			return err
		}
	} else if err := inv.trust(opened, c.Name); err != nil {
		return err
	}
	return printResult(inv, c.JSON, trustRow{c.Name, status})
}

func (trustCmd) row() any { return trustRow{} }

type trustRow struct {
	Session string `json:"session" head:"NAME" doc:"the name of the session"`
	Status  string `json:"status" head:"STATUS" doc:"trusted or untrusted"`
}

func (inv *invocation) trust(opened managers, name string) error {
	info, err := opened.sessions.Resolve(inv.ctx, engine.Revision{Name: name, Message: -1})
	if err != nil {
		return err
	}
	listing, err := opened.trust.Listing(inv.ctx, info)
	if err != nil {
		return err
	}
	if len(listing) == 0 && !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "Nothing of %s can run.\n", visible(name))
	}
	inv.showListing(listing)
	return opened.trust.Trust(inv.ctx, info)
}
