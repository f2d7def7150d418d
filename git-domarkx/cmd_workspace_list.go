package main

import "github.com/domarkx/domarkx"

type workspaceListCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

func (workspaceListCmd) Help() string {
	return `
Lists all workspaces by name.

## Output

    NAME  NUMBER  UPDATED  SUBJECT

The number is that of the newest version, the subject what made it. The objects of
--json have the members name, number, updated, subject, oid and operation.
`
}

// Run lists the workspaces.
func (c *workspaceListCmd) Run(inv *invocation) error {
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	list, err := sessions.ListWorkspaces(inv.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(inv.out, list, func(v domarkx.Version) []domarkx.Member {
			return []domarkx.Member{jsonText("name", v.Workspace), jsonNumber("number", int64(v.Number)), jsonDate("updated", v.Date),
				jsonText("subject", v.Subject), jsonText("oid", v.ID), jsonText("operation", v.Operation)}
		})
	}
	t := newTable("NAME", "NUMBER", "UPDATED", "SUBJECT")
	for _, v := range list {
		t.add(text(v.Workspace), number(v.Number), date(v.Date), text(v.Subject))
	}
	return t.write(inv)
}
