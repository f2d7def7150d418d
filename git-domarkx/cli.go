package main

import (
	"github.com/alecthomas/kong"
)

// The groups of commands, in the order in which they are shown.
const (
	groupRead   = "Bring in and look"
	groupChange = "Change"
	groupMount  = "Edit as files"
	groupShare  = "Share"
	groupCare   = "Keep whole"
	groupTool   = "The program itself"
)

// globals are the options that every command takes.
type globals struct {
	Quiet    bool   `short:"q" help:"Show no progress and no hints."`
	Color    string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour the output: auto (the default), always or never."`
	Progress bool   `negatable:"" default:"true" help:"Show progress on a terminal after a second; --no-progress never does."`

	Usage usageFlag `short:"h" hidden:"" help:"Show the usage on one screen and stop."`
	Help  helpFlag  `help:"Show the whole help and stop; -h shows the usage on one screen."`
}

// commandLine is the grammar: what a user can type.
type commandLine struct {
	globals

	Version    versionCmd    `cmd:"" group:"tool" help:"Print the version."`
	Completion completionCmd `cmd:"" group:"tool" help:"Print the completion script of a shell."`
	Man        manCmd        `cmd:"" group:"tool" help:"Print or write the manual pages."`
	HelpOn     helpCmd       `cmd:"" name:"help" group:"tool" help:"Show the whole help of a command."`
}

func newParser(line *commandLine) (*kong.Kong, error) {
	return kong.New(line,
		kong.Name("git-domarkx"),
		kong.Description("Keep AI sessions in Git and edit them as Markdown files."),
		kong.NoDefaultHelp(),
		kong.WithHyphenPrefixedParameters(true),
		kong.ExplicitGroups([]kong.Group{
			{Key: "read", Title: groupRead}, {Key: "change", Title: groupChange}, {Key: "mount", Title: groupMount},
			{Key: "share", Title: groupShare}, {Key: "care", Title: groupCare}, {Key: "tool", Title: groupTool},
		}),
	)
}

// A helpRequest stops parsing: somebody wants to know about a command.
type helpRequest struct {
	node *kong.Node
	long bool
}

func (*helpRequest) Error() string { return "help was asked for" }

func (h *helpRequest) print(out *output) error {
	if h.long {
		return newPage(h.node).writeText(out)
	}
	if err := newPage(h.node).writeUsage(out); err != nil {
		return err
	}
	return errUsageShown
}

type usageFlag bool

// BeforeReset is called by the parser when -h is among the arguments.
func (usageFlag) BeforeReset(ctx *kong.Context) error { return &helpRequest{node: selected(ctx)} }

type helpFlag bool

// BeforeReset is called by the parser when --help is among the arguments.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	return &helpRequest{node: selected(ctx), long: true}
}

func selected(ctx *kong.Context) *kong.Node {
	if node := ctx.Selected(); node != nil {
		return node
	}
	return ctx.Model.Node
}
