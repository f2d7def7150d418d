package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// projectHelp describes the configuration file that all sessions of a repository share.
const projectHelp = `
## .domarkx.toml

A file of that name at the top of the work tree says what the sessions of the repository
share. A bare repository has none.

    [[resources]]               # as in a workspace-config, one table for each resource
    type = "local_shell"
    path = "."

    [plugins.docker_sandbox]    # values for config keys of that type of resource
    image = "golang:1.26"

The resources are those of a session that names none itself and has no engine. The values
of [plugins.TYPE] complete the config of each resource of that type, of documents too;
a key that the resource has itself wins, as a whole. Any other key is an error, and then
"run", "exec", "replay" and "trust" do nothing. What the file adds is part of what you
trust: when it changes, the sessions that use it are not trusted any more. It can allow
nothing that needs your own configuration. A version of a workspace says with which
config it was made, so a clone without the file works on with that.
`

type trustCmd struct {
	jsonOption
	Revoke bool   `help:"Take the trust back."`
	Name   string `arg:"" name:"NAME" help:"The session."`
}

func (trustCmd) Help() string {
	return `
Shows, on standard error, all of a session that can run: the engine or the resources that
it asks for, what .domarkx.toml (see below) adds to that, its setup script, and the tool
calls and named code blocks of the assistant's messages. Then it records that you trust
exactly that. Until you said so, "run", "exec" and "replay" make no call of a session;
looking at it, editing, mounting, pushing and pulling never run anything.

What is recorded is a digest of that content, in this clone (.git/domarkx/local.json);
it does not travel, and names mean nothing: a session of that name with
other content is not trusted, and one of another name with the same content is. What you
change yourself in a session that you trust ("append", "edit", "exec", a save in the
mount) stays trusted; what an import, a fetch or a pull brings is not.

The tools of an MCP server are part of that from when the server first lists them. Its
first list is trusted unseen: a server must run to list its tools, and trust starts nothing.
The command that first starts the server names them.
When it lists others later, none is called until you trust the session again, which shows
them.

Some things need your own configuration besides: commands without confinement
(domarkx.sandbox), and for containers, databases and repositories the network
(domarkx.allowNetwork), host directories (domarkx.allowMount), DSNs (domarkx.allowDSN) and
URLs (domarkx.allowURL).
` + projectHelp + `
## Output

    NAME  STATUS

STATUS is trusted or untrusted. A session of which nothing can run is always trusted; where
.domarkx.toml has resources, calls can be made in them for any session.

## Examples

    git domarkx trust talk && git domarkx run talk
    git domarkx trust --revoke talk
`
}

func (trustCmd) ExitOne() string { return "What is wrong with .domarkx.toml has to be mended first." }

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
