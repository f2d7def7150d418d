package main

type workspaceAttachCmd struct {
	jsonOption
	Name      string `arg:"" name:"NAME" help:"The session."`
	Workspace string `arg:"" name:"WS" help:"The workspace that its calls are to run in."`
}

func (workspaceAttachCmd) Help() string {
	return `
Lets the calls of a session run in another workspace than that of its own name, and
links its later messages to the versions of that one. Messages keep the links that they
have. It is recorded on this machine (.git/domarkx/local.json); on another one "git domarkx pull" finds it out from the calls that were made. To go back to the session's
own workspace, attach that: git domarkx workspace attach NAME NAME.

The session runs in resources that its document does not name. Where they are live on
this machine a session that is trusted stays so; else "git domarkx trust" shows them.

## Output

    NAME  WS
`
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
