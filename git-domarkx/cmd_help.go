package main

import (
	"embed"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/git-domarkx/clidoc"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/domarkx/domarkx/plugins/limit"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" name:"COMMAND" help:"The command; without one, the program."`
}

func (c *helpCmd) Run(inv *invocation) error {
	node, err := inv.command(c.Command)
	if err != nil {
		return err
	}
	if err := inv.page(); err != nil {
		return err
	}
	_, err = inv.out.WriteString(clidoc.New(node, resultFields).Text())
	return err
}

// helpPages holds a text for each command, in Markdown: help/agent_list.md is that of "agent list". The rest of a page, such
// as its options, comes from the grammar.
//
//go:embed help/*.md
var helpPages embed.FS

// describe gives a command and all below it their texts.
func describe(node *kong.Node) {
	node.Detail = helpText(clidoc.VerbOf(node))
	for _, child := range node.Children {
		describe(child)
	}
}

// helpText returns the text of a command, or "" if it has none. In a text, {{name}} stands for what a table of the program says.
func helpText(verb string) string {
	data, err := helpPages.ReadFile("help/" + strings.ReplaceAll(verb, " ", "_") + ".md")
	if err != nil {
		return ""
	}
	text := string(data)
	for _, insert := range []struct {
		name string
		text func() string
	}{
		{"limits", limit.Help}, {"priced", prices.Date}, {"settings", settingsTable}, {"unhooked", unhooked},
		{"resumable", func() string { return inSentence(agentNames(resumable()), "and") }},
		{"transcripts", func() string { return inSentence(programs(transcriptCodecs()), "and") }},
	} {
		if mark := "{{" + insert.name + "}}"; strings.Contains(text, mark) {
			text = strings.ReplaceAll(text, mark, insert.text())
		}
	}
	return text
}
