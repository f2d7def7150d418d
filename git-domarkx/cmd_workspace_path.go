package main

type workspacePathCmd struct {
	jsonOption
	Workspace string `arg:"" name:"WS" help:"The workspace."`
	Resource  string `arg:"" optional:"" name:"RESOURCE" help:"One of its resources; without it, all that are directories."`
}

func (c *workspacePathCmd) Run(inv *invocation) error {
	opened, err := inv.open()
	if err != nil {
		return err
	}
	paths, err := opened.turns.WorkspacePaths(inv.ctx, c.Workspace, c.Resource)
	if err != nil {
		return err
	}
	w := newResultWriter[pathRow](inv, c.JSON)
	w.prompt = true
	for _, dir := range paths {
		if err := w.add(pathRow{pathField(dir)}); err != nil {
			return err
		}
	}
	return w.end()
}

func (workspacePathCmd) row() any { return []pathRow{} }
