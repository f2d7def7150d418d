package main

type pluginCmd struct {
	List pluginListCmd `cmd:"" help:"List the types of resources and their tools."`
}

func (pluginCmd) Help() string {
	return `
A plugin manages the resources of one type. Some are built in; others are programs on
PATH whose name is git-domarkx-plugin-TYPE.
`
}
