package main

type workspaceAttachCmd struct {
	rowOption[attachRow]
	Name      string `arg:"" name:"NAME" of:"session" help:"The session."`
	Workspace string `arg:"" name:"WS" help:"The workspace that its calls are to run in."`
}

func (c *workspaceAttachCmd) Run(inv *invocation, opened managers) error {
	if err := opened.turns.AttachWorkspace(inv.ctx, c.Name, c.Workspace); err != nil {
		return err
	}
	return c.print(inv, attachRow{c.Name, c.Workspace})
}

type attachRow struct {
	Session   string `json:"session" head:"NAME" doc:"the name of the session"`
	Workspace string `json:"workspace" head:"WORKSPACE" doc:"the workspace that it uses on this machine"`
}
