package main

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// A completed is a command as the completion scripts know it.
type completed struct {
	verb      string // as in "workspace list"
	help      string
	options   []completedOption
	commands  []completed         // nil when it has none
	arguments []completedArgument // the last takes what follows, too
}

// A completedArgument is what a command takes at one place.
type completedArgument struct {
	kind  argumentKind
	words []string // of argWord
}

type completedOption struct {
	long   string // without the dashes
	short  string // one letter, or ""
	help   string
	values []string // nil when it takes none, or any
	takes  bool     // a value
}

// An argumentKind is what a command's arguments name.
type argumentKind int

// The kinds of arguments.
const (
	argNone argumentKind = iota
	argSession
	argFile
	argDirectory
	argRemote // first, then sessions
	argWord   // one of completedArgument.words
	argWorkspace
	argResource // of the workspace, or of the session's, that is the argument before
)

func completionScripts() map[string]func(io.Writer, []completed) error {
	return map[string]func(io.Writer, []completed) error{"bash": writeBash, "zsh": writeZsh, "fish": writeFish}
}

// completionModel returns the commands and, first and without a verb, the
// options that all take.
func completionModel(model *kong.Application) []completed {
	return append([]completed{{options: completedOptions(model.Flags)}}, completedCommands(model.Node, model)...)
}

func completedCommands(parent *kong.Node, model *kong.Application) []completed {
	var list []completed
	for _, node := range parent.Children {
		c := completed{verb: verbOf(node), help: strings.TrimSuffix(node.Help, "."), options: completedOptions(node.Flags),
			commands: completedCommands(node, model)}
		for _, arg := range node.Positional {
			kind, words := kindOf(node, arg, model)
			c.arguments = append(c.arguments, completedArgument{kind, words})
		}
		for n := len(c.arguments); n > 1 && c.arguments[n-1].kind == c.arguments[n-2].kind && c.arguments[n-1].words == nil; n-- {
			c.arguments = c.arguments[:n-1]
		}
		list = append(list, c)
	}
	return list
}

// withCommands returns commands, each with its own behind it.
func withCommands(list []completed) []completed {
	var all []completed
	for _, c := range list {
		all = append(append(all, c), withCommands(c.commands)...)
	}
	return all
}

// last is the verb without those that it belongs to.
func (c completed) last() string { return c.verb[strings.LastIndexByte(c.verb, ' ')+1:] }

func kindOf(node *kong.Node, arg *kong.Positional, model *kong.Application) (argumentKind, []string) {
	switch {
	case arg.Enum != "":
		return argWord, arg.EnumSlice()
	case strings.HasPrefix(arg.Name, "WS"), node.Parent.Name == "workspace" && (arg.Name == "A" || arg.Name == "B"):
		return argWorkspace, nil
	case arg.Name == "RESOURCE":
		return argResource, nil
	case arg.Name == "TOOL" || arg.Name == "KEY=VALUE":
		return argNone, nil
	case arg.Name == "COMMAND":
		var verbs []string
		for _, child := range model.Children {
			verbs = append(verbs, child.Name)
		}
		return argWord, verbs
	case arg.Name == "PATH":
		return argFile, nil
	case arg.Name == "DIR":
		return argDirectory, nil
	case arg.Name == "REMOTE":
		return argRemote, nil
	}
	return argSession, nil
}

func completedOptions(flags []*kong.Flag) []completedOption {
	var options []completedOption
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		o := completedOption{long: f.Name, help: strings.TrimSuffix(f.Help, "."), takes: !f.IsBool()}
		if f.Tag.Negatable != "" {
			o.long = "no-" + f.Name
		}
		if f.Short != 0 {
			o.short = string(f.Short)
		}
		if f.Enum != "" {
			o.values = f.EnumSlice()
		}
		options = append(options, o)
	}
	return options
}
