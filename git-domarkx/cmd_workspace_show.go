package main

import (
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

type workspaceShowCmd struct {
	rowOption[workspaceShowRow]
	Revision revisionArg `arg:"" name:"WS[@OID]" of:"message" help:"A workspace, WS~2, WS@OID, or the message NAME#K of a session."`
}

func (c *workspaceShowCmd) Run(inv *invocation, opened managers) error {
	v, err := opened.sessions.ResolveVersion(inv.ctx, c.Revision.Revision)
	if err != nil {
		return err
	}
	if err := inv.page(); err != nil {
		return err
	}
	rows := rowsOf(v.Resources, func(r domarkx.ResourceVersion) resourceRow {
		return resourceRow{r.ID, r.Type, oidField(r.Version), r.Config}
	})
	if c.JSON {
		return c.print(inv, workspaceShowRow{v.Workspace, versionRowOf(v), v.Parents, rows})
	}
	return printResults(inv, false, rows)
}

type workspaceShowRow struct {
	Workspace string `json:"workspace" doc:"the name of the workspace"`
	versionRow
	Parents   []string      `json:"parents" doc:"the versions before it"`
	Resources []resourceRow `json:"resources" doc:"its resources"`
}

type resourceRow struct {
	ID      string          `json:"id" head:"RESOURCE" doc:"the id of the resource"`
	Type    string          `json:"type" head:"TYPE" doc:"its type"`
	Version oidField        `json:"version" head:"VERSION" doc:"its version: the tree of its content"`
	Config  jsonvalue.Value `json:"config" head:"CONFIG" doc:"its configuration, as in the document"`
}
