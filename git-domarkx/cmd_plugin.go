package main

type pluginCmd struct {
	List pluginListCmd `cmd:"" help:"List the types of resources and their tools."`
}
