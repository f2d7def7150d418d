package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A page is all there is to know about a command, made from the command model.
// The screen of -h, the help text, the manual page and the Markdown page are
// four ways to write it.
type page struct {
	name      string // as in "git domarkx workspace list"; the program's own page has no verb
	verb      string // as in "workspace list"; "" on the program's own page
	summary   string
	usage     string
	arguments []item
	options   []item
	globals   []item
	groups    []group // of commands; on the program's own page, and on that of a command with commands
	body      []block
	exits     []item
	fields    []item   // of the results with --json
	verbs     []string // of all commands, for the program's own page
}

// An item is a term and what it means.
type item struct{ term, text string }

type group struct {
	title    string
	commands []item
}

// An exitExplainer says what exit status 1 means for it.
type exitExplainer interface{ ExitOne() string }

func newPage(node *kong.Node) *page {
	p := &page{name: "git domarkx", summary: strings.TrimSuffix(node.Help, "."), body: parseBody(node.Detail)}
	root := node
	for root.Parent != nil {
		root = root.Parent
	}
	p.globals = flagItems(root.Flags)
	if node == root {
		p.usage = "git domarkx [-q] [--color=WHEN] [--no-progress] COMMAND [ARGUMENT...]"
		p.addCommands(node)
	} else {
		p.verb = verbOf(node)
		p.name += " " + p.verb
		p.options = flagItems(node.Flags)
		if len(node.Children) > 0 {
			p.addCommands(node)
		}
		p.usage = usageLine(p.name, node)
	}
	for _, arg := range node.Positional {
		p.arguments = append(p.arguments, item{arg.Name, arg.Help})
	}
	p.exits = exitItems(node)
	if node.Type == kong.CommandNode {
		if printer, ok := node.Target.Addr().Interface().(resultPrinter); ok {
			p.fields = resultItems(printer.row())
		}
	}
	return p
}

func (p *page) addCommands(root *kong.Node) {
	for _, child := range root.Children {
		if child.Hidden {
			continue
		}
		title := "Commands"
		if root.Parent == nil {
			title = child.ClosestGroup().Title
		}
		i := slices.IndexFunc(p.groups, func(g group) bool { return g.title == title })
		if i < 0 {
			i = len(p.groups)
			p.groups = append(p.groups, group{title: title})
		}
		p.groups[i].commands = append(p.groups[i].commands, item{verbOf(child), strings.TrimSuffix(child.Help, ".")})
		p.verbs = append(p.verbs, child.Name)
	}
}

// verbOf returns how a command is called behind the program's name.
func verbOf(node *kong.Node) string {
	verb := node.Name
	for node = node.Parent; node != nil && node.Parent != nil; node = node.Parent {
		verb = node.Name + " " + verb
	}
	return verb
}

func flagItems(flags []*kong.Flag) []item {
	var items []item
	for _, f := range flags {
		if !f.Hidden {
			items = append(items, item{flagTerm(f), f.Help})
		}
	}
	return items
}

func flagTerm(f *kong.Flag) string {
	term := "--" + f.Name
	if f.Tag.Negatable != "" {
		term = "--[no-]" + f.Name
	}
	term += valueOf(f)
	if f.Short != 0 {
		term = "-" + string(f.Short) + ", " + term
	}
	return term
}

// valueOf returns what stands behind an option: a value may be optional, and is part of the
// word then.
func valueOf(f *kong.Flag) string {
	switch {
	case !f.IsBool():
		return " " + placeholder(f)
	case f.PlaceHolder != "":
		return f.PlaceHolder
	}
	return ""
}

func placeholder(f *kong.Flag) string {
	if f.PlaceHolder != "" {
		return f.PlaceHolder
	}
	return strings.ToUpper(f.Name)
}

func usageLine(name string, node *kong.Node) string {
	words := []string{name}
	for _, f := range node.Flags {
		if f.Hidden {
			continue
		}
		word := "--" + f.Name
		if f.Short != 0 {
			word = "-" + string(f.Short)
		}
		word += valueOf(f)
		if !f.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	if len(node.Children) > 0 {
		words = append(words, "COMMAND [ARGUMENT...]")
	}
	for _, arg := range node.Positional {
		word := arg.Name
		if arg.IsCumulative() {
			word += "..."
		}
		if !arg.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func exitItems(node *kong.Node) []item {
	items := []item{{"0", "Done."}}
	one := "The answer is no, or some input was bad."
	if node.Type == kong.CommandNode {
		one = ""
		if explainer, ok := node.Target.Addr().Interface().(exitExplainer); ok {
			one = explainer.ExitOne()
		}
	}
	if one != "" {
		items = append(items, item{"1", one})
	}
	return append(items,
		item{"128", "Something made it impossible; the message says what."},
		item{"129", "The command line could not be understood, or -h asked how it is written."},
		item{"130, 143", "An interrupt or a termination signal ended the command."})
}
