package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A page is the complete description of a command, generated from the command model. It
// can be written as the screen of -h, as help text, as a manual page and as Markdown.
type page struct {
	name      string // such as "git domarkx workspace list"; the program's own page has no verb
	verb      string // such as "workspace list"; "" on the program's own page
	summary   string
	usage     string
	arguments []item
	options   []item
	globals   []item
	groups    []group // of commands; on the page of the program or of a command with subcommands
	body      []block
	exits     []item
	fields    []item   // of the results with --json
	verbs     []string // of all commands, on the program's own page
}

// An item is a term and its description.
type item struct{ term, text string }

type group struct {
	title    string
	commands []item
}

// An exitExplainer describes its exit status 1.
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

// verbOf returns the words that follow the program's name to call a command.
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

// valueOf returns the text after an option's name. An optional value is attached to the
// name.
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
