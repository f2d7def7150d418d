package main

import (
	"slices"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins"
)

type pluginListCmd struct{ jsonOption }

func (pluginListCmd) row() any { return []pluginRow{} }

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
	types, err := inv.pluginTypes()
	if err != nil {
		return err
	}
	var mute []error
	types = slices.DeleteFunc(types, func(p plugins.Type) bool {
		if p.Err != nil {
			mute = append(mute, p.Err)
		}
		return p.Err != nil
	})
	if err := c.print(inv, types); err != nil || mute == nil {
		return err
	}
	return badInput(inv, mute)
}

func (c *pluginListCmd) print(inv *invocation, types []plugins.Type) error {
	if err := inv.page(); err != nil {
		return err
	}
	rows := make([]pluginRow, len(types))
	for i, p := range types {
		rows[i] = pluginRow{Type: p.Name, Source: p.Source, Tools: []toolRow{}}
		for _, tool := range p.Tools {
			rows[i].Names = append(rows[i].Names, tool.Name)
			rows[i].Tools = append(rows[i].Tools, toolRow{tool.Name, tool.Description, tool.Schema})
		}
	}
	return printResults(inv, c.JSON, rows)
}
