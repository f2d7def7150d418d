package main

import (
	"errors"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

type pluginCmd struct {
	List pluginListCmd `cmd:"" help:"List the types of resources and their tools."`
}

type pluginListCmd struct{ rowsOption[pluginRow] }

type pluginRow struct {
	Type   string    `json:"type" head:"TYPE" doc:"the type, as in a workspace-config"`
	Source string    `json:"source" head:"SOURCE" doc:"built-in, or the path of the program"`
	Names  []string  `head:"TOOLS"`
	Tools  []toolRow `json:"tools" doc:"the tools of its resources"`
}

type toolRow struct {
	Name        string          `json:"name" doc:"the name of the tool"`
	Description string          `json:"description" doc:"what it does"`
	InputSchema jsonvalue.Value `json:"inputSchema" doc:"the JSON Schema of its arguments"`
}

func (c *pluginListCmd) Run(inv *invocation) error {
	_, manager := inv.resourceTypes()
	types, err := manager.Types(inv.ctx)
	if err != nil {
		return err
	}
	var mute error
	var list []pluginRow
	for _, p := range types {
		if p.Err != nil {
			mute = errors.Join(mute, p.Err)
			continue
		}
		row := pluginRow{Type: p.Name, Source: p.Source, Tools: []toolRow{}}
		for _, tool := range p.Tools {
			row.Names = append(row.Names, tool.Name)
			row.Tools = append(row.Tools, toolRow{tool.Name, tool.Description, tool.Schema})
		}
		list = append(list, row)
	}
	return c.printAll(inv, list, mute)
}
