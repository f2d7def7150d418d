package main

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// A completed is a command as the completion scripts know it.
type completed struct {
	verb    string
	help    string
	options []completedOption
	words   []string // what its arguments are chosen from; nil when open
	kind    argumentKind
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
	argWord   // one of completed.words
)

func completionScripts() map[string]func(io.Writer, []completed) error {
	return map[string]func(io.Writer, []completed) error{"bash": writeBash, "zsh": writeZsh, "fish": writeFish}
}

// completionModel returns the commands and, first and without a verb, the
// options that all take.
func completionModel(model *kong.Application) []completed {
	list := []completed{{options: completedOptions(model.Flags)}}
	for _, node := range model.Children {
		c := completed{verb: node.Name, help: strings.TrimSuffix(node.Help, "."), options: completedOptions(node.Flags)}
		if len(node.Positional) > 0 {
			c.kind, c.words = kindOf(node.Positional[0], model)
		}
		list = append(list, c)
	}
	return list
}

func kindOf(arg *kong.Positional, model *kong.Application) (argumentKind, []string) {
	switch {
	case arg.Enum != "":
		return argWord, arg.EnumSlice()
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
