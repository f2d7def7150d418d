package main

type restoreCmd struct {
	Name string `arg:"" name:"NAME" help:"The session as it was called."`
}

func (restoreCmd) Help() string {
	return `
Brings back the session of that name that was removed last, with its workspace; or the
workspace alone, when only that was removed.

## Output

    NAME  OID
`
}

// Run restores the session.
func (c *restoreCmd) Run(inv *invocation) error {
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	info, err := sessions.Restore(inv.ctx, c.Name)
	if err != nil {
		return err
	}
	return printSession(inv, info)
}
