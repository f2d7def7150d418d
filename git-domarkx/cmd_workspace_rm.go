package main

type workspaceRmCmd struct {
	Workspace string `arg:"" name:"WS" help:"The workspace."`
}

func (workspaceRmCmd) Help() string {
	return `
Commits what is live as a version, removes what the workspace has on this machine
(private folders, containers, databases; not a folder of the work tree), and moves the
workspace to the trash. "git domarkx restore WS" brings it back until gc empties the
trash. Versions that messages are linked to stay with their sessions.

## Output

    NAME  OID
`
}

// Run removes the workspace.
func (c *workspaceRmCmd) Run(inv *invocation) error {
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	v, err := sessions.RemoveWorkspace(inv.ctx, c.Workspace)
	if err != nil {
		return err
	}
	t := newTable()
	t.add(text(c.Workspace), oid(v.ID))
	return t.write(inv)
}
