package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type trustCmd struct {
	Revoke bool   `help:"Take the trust back."`
	Name   string `arg:"" name:"NAME" help:"The session."`
}

func (trustCmd) Help() string {
	return `
Shows, on standard error, all of a session that can run: the engine or the resources that
it asks for, its setup script, and the tool calls and named code blocks of the
assistant's messages. Then it records that you trust exactly that. Until you said so,
"run", "exec" and "replay" make no call of a session; looking at it, editing, mounting,
pushing and pulling never run anything.

What is recorded is a digest of that content, among the settings of this clone (git config
domarkx.trust); it does not travel, and names mean nothing: a session of that name with
other content is not trusted, and one of another name with the same content is. What you
change yourself in a session that you trust ("append", "edit", "exec", a save in the
mount) stays trusted; what an import, a fetch or a pull brings is not.

Some things need your own configuration besides: commands without confinement
(domarkx.sandbox), and for containers, databases and repositories the network
(domarkx.allowNetwork), host folders (domarkx.allowMount), DSNs (domarkx.allowDSN) and
URLs (domarkx.allowURL).

## Output

    NAME  STATUS

STATUS is trusted or untrusted. A session of which nothing can run is always trusted.

## Examples

    git domarkx trust talk && git domarkx run talk
    git domarkx trust --revoke talk
`
}

// Run trusts the session.
func (c *trustCmd) Run(inv *invocation) error {
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	status := engine.Trusted
	if c.Revoke {
		if status, err = sessions.Revoke(inv.ctx, c.Name); err != nil {
			return err
		}
	} else if err := inv.trust(sessions, c.Name); err != nil {
		return err
	}
	t := newTable()
	t.add(text(c.Name), text(status))
	return t.write(inv)
}

func (inv *invocation) trust(sessions *engine.SessionManager, name string) error {
	info, err := sessions.Resolve(inv.ctx, engine.Revision{Name: name, Message: -1})
	if err != nil {
		return err
	}
	listing, err := sessions.Listing(inv.ctx, info)
	if err != nil {
		return err
	}
	if len(listing) == 0 && !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "Nothing of %s can run.\n", visible(name))
	}
	inv.showListing(listing)
	return sessions.Trust(inv.ctx, info)
}
