package main

import (
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

type trustCmd struct {
	rowOption[trustRow]
	Revoke bool   `help:"Take the trust back."`
	Name   string `arg:"" name:"NAME" of:"session" help:"The session."`
}

func (c *trustCmd) Run(inv *invocation, opened managers) error {
	status, err := trust.Trusted, error(nil)
	if c.Revoke {
		status, err = opened.trust.Revoke(inv.ctx, c.Name)
	} else {
		err = inv.trust(opened, c.Name)
	}
	if err != nil {
		return err
	}
	return c.print(inv, trustRow{c.Name, status})
}

type trustRow struct {
	Session string `json:"session" head:"NAME" doc:"the name of the session"`
	Status  string `json:"status" head:"STATUS" doc:"trusted or untrusted"`
}

func (inv *invocation) trust(opened managers, name string) error {
	info, err := opened.sessions.Resolve(inv.ctx, tipOf(name))
	if err != nil {
		return err
	}
	listing, err := opened.trust.Listing(inv.ctx, info)
	if err != nil {
		return err
	}
	if len(listing) == 0 {
		inv.say("Nothing of %s can run.", name)
	}
	inv.showListing(listing)
	return opened.trust.Trust(inv.ctx, info)
}
