package main

import (
	"github.com/domarkx/domarkx/format/jsonvalue"
)

type workspaceShowCmd struct {
	jsonOption
	Revision string `arg:"" name:"WS[@OID]" help:"A workspace, WS~2, WS@OID, or the message NAME#K of a session."`
}

func (c *workspaceShowCmd) Run(inv *invocation) error {
	_, _, v, err := inv.version(c.Revision)
	if err != nil {
		return err
	}
	if err := inv.page(); err != nil {
		return err
	}
	rows := make([]resourceRow, len(v.Resources))
	for i, r := range v.Resources {
		rows[i] = resourceRow{r.ID, r.Type, oidField(r.Version), r.Config}
	}
	if c.JSON {
		return printResult(inv, true, workspaceShowRow{v.Workspace, versionRowOf(v), v.Parents, rows})
	}
	return printResults(inv, false, rows)
}

func (workspaceShowCmd) row() any { return workspaceShowRow{} }

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
