package main

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

type pluginListCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

func (pluginListCmd) Help() string {
	return `
Lists the types that a workspace-config can name, where their plugins are from, and the
tools of their resources.

## Output

    TYPE  SOURCE  TOOLS

SOURCE is "built-in" or the path of a program; the names of the tools are separated by
commas. The objects of --json have the members type, source and tools, an array of objects
with name, description and inputSchema, the JSON Schema of the arguments.
`
}

// ExitOne says what exit status 1 means.
func (pluginListCmd) ExitOne() string {
	return "A plugin does not say what it offers; the others are listed."
}

// Run lists the plugins.
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
	if c.JSON {
		return writeJSON(inv.out, types, pluginObject)
	}
	t := newTable("TYPE", "SOURCE", "TOOLS")
	for _, p := range types {
		var names []string
		for _, tool := range p.Tools {
			names = append(names, tool.Name)
		}
		t.add(text(p.Name), text(p.Source), text(strings.Join(names, ",")))
	}
	return t.write(inv)
}

func pluginObject(p plugins.Type) []domarkx.Member {
	tools := make([]domarkx.Value, len(p.Tools))
	for i, tool := range p.Tools {
		tools[i] = domarkx.ObjectValue(jsonText("name", tool.Name), jsonText("description", tool.Description),
			domarkx.Member{Name: "inputSchema", Value: tool.Schema})
	}
	return []domarkx.Member{jsonText("type", p.Name), jsonText("source", p.Source), {Name: "tools", Value: domarkx.ArrayValue(tools...)}}
}
