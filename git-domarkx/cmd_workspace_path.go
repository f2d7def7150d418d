package main

type workspacePathCmd struct {
	rowsOption[pathRow]
	Workspace string `arg:"" name:"WS" help:"The workspace."`
	Resource  string `arg:"" optional:"" name:"RESOURCE" help:"One of its resources; without it, all that are directories."`
}

func (c *workspacePathCmd) Run(inv *invocation, opened managers) error {
	paths, err := opened.turns.WorkspacePaths(inv.ctx, c.Workspace, c.Resource)
	if err != nil {
		return err
	}
	w := c.prompt(inv)
	for _, dir := range paths {
		if err := w.add(pathRow{pathField(dir)}); err != nil {
			return err
		}
	}
	return w.end()
}
