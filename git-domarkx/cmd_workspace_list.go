package main

import "github.com/domarkx/domarkx/format/domarkx"

type workspaceListCmd struct{ rowsOption[workspaceRow] }

type workspaceRow struct {
	Workspace string    `json:"workspace" head:"NAME" doc:"the name of the workspace"`
	Number    int       `json:"number" head:"NUMBER" doc:"the number of its newest version"`
	Updated   timeField `json:"updated" head:"UPDATED" doc:"when that was made"`
	Subject   string    `json:"subject" head:"SUBJECT" show:"preview" doc:"the subject of its commit"`
	OID       oidField  `json:"oid" doc:"its commit"`
	Operation string    `json:"operation" doc:"what made it: create, call, change, rewind …"`
}

func (c *workspaceListCmd) Run(inv *invocation, opened managers) error {
	list, err := opened.sessions.ListWorkspaces(inv.ctx)
	if err != nil {
		return err
	}
	return c.print(inv, rowsOf(list, func(v domarkx.Version) workspaceRow {
		return workspaceRow{v.Workspace, int(v.Number), timeField(v.Date), v.Subject, oidField(v.ID), v.Operation}
	}))
}
