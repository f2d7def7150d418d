package main

type rmCmd struct {
	Name string `arg:"" name:"NAME" help:"The session."`
}

func (rmCmd) Help() string {
	return `
Moves a session and its workspace to the trash. What changed in the workspace since the
last call is committed first; what it has on this machine (private folders, containers,
databases; not a folder of the work tree) is removed. "git domarkx restore NAME" brings it back until gc empties
the trash, after gc.reflogExpireUnreachable (30 days unless set). The next push removes
it from the remote.

## Output

    NAME  OID
`
}

// Run removes the session.
func (c *rmCmd) Run(inv *invocation) error {
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	info, err := sessions.Remove(inv.ctx, c.Name)
	if err != nil {
		return err
	}
	return printSession(inv, info)
}
