package main

import "fmt"

type pushCmd struct {
	All    bool     `help:"All sessions."`
	Remote string   `arg:"" optional:"" name:"REMOTE" help:"A remote or URL of Git; domarkx.remote, else the only one, else origin."`
	Names  []string `arg:"" optional:"" name:"NAME" help:"The sessions."`
}

func (pushCmd) Help() string {
	return `
Sends sessions to a remote: those that are named, or with --all every one; without
names, those that the remote has or that were pushed before. All are sent or none.

A session that the remote has more of is refused: pull, then push again. What was removed
here is removed there; nothing else is.

## Output

    NAME  STATUS

One line for each session. STATUS is new, updated, removed there, up to date,
or begins with rejected and says why and what to do.
`
}

// ExitOne says what exit status 1 means.
func (pushCmd) ExitOne() string {
	return "The remote rejected a session; nothing was sent."
}

// Run exchanges sessions with the remote.
func (c *pushCmd) Run(inv *invocation) error {
	if c.All && len(c.Names) > 0 {
		return usagef("--all sends every session; it takes no NAME")
	}
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	remote, names, err := inv.remoteAndNames(c.Remote, c.Names)
	if err != nil {
		return err
	}
	told, err := sessions.Push(inv.ctx, remote, names, c.All, inv.gitProgress())
	if err == nil && len(told) == 0 && !inv.opts.Quiet {
		fmt.Fprintln(inv.err, "nothing to send: the remote has no session yet; name those to send, or use --all")
	}
	return printExchange(inv, told, err)
}
