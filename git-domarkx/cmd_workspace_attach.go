package main

type workspaceAttachCmd struct {
	jsonOption
	Name      string `arg:"" name:"NAME" help:"The session."`
	Workspace string `arg:"" name:"WS" help:"The workspace that its calls are to run in."`
}

func (c *workspaceAttachCmd) Run(inv *invocation) error {
	opened, err := inv.openFor(&c.Name)
	if err != nil {
		return err
	}
	if err := opened.turns.AttachWorkspace(inv.ctx, c.Name, c.Workspace); err != nil {
		return err
	}
	return printResult(inv, c.JSON, attachRow{c.Name, c.Workspace})
}

func (workspaceAttachCmd) row() any { return attachRow{} }

type attachRow struct {
	Session   string `json:"session" head:"NAME" doc:"the name of the session"`
	Workspace string `json:"workspace" head:"WORKSPACE" doc:"the workspace that it uses on this machine"`
}
