// Package clidoc describes the commands of a program to its users, from the command model of package kong: the screen of -h, help
// texts, manual pages and Markdown pages. It also returns what can complete a command line. A test compares all of them with the
// committed files: pages that are written separately become out of date.
package clidoc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A Page describes a command completely. It is made from the command model, and can be
// written as the screen of -h, as help text, as a manual page and as Markdown.
type Page struct {
	Name      string // such as "git domarkx workspace list"; the program's own page has no verb
	Verb      string // such as "workspace list"; "" on the program's own page
	Summary   string
	Usage     string
	Arguments []Item
	Options   []Item
	globals   []Item
	Groups    []group // the commands of the program, or of a command with subcommands
	Body      []block
	exits     []Item
	fields    []Item // members of the results with --json
}

// An Item is a term and its description.
type Item struct{ Term, Text string }

type group struct {
	title    string
	commands []Item
}

// exitHeading begins the last section of the help of a command that can end with exit status 1. It says what that means.
const exitHeading = "\n## Exit status 1\n"

// New returns the page of a command. fields returns the members of the results that a
// command prints with --json, or nil for a command without them.
func New(node *kong.Node, fields func(command any) []Item) *Page {
	body, one, _ := strings.Cut(node.Detail, exitHeading)
	p := &Page{Name: "git domarkx", Summary: strings.TrimSuffix(node.Help, "."), Body: parseBody(body)}
	root := node
	for root.Parent != nil {
		root = root.Parent
	}
	p.globals = flagItems(root.Flags)
	p.addCommands(node)
	if node == root {
		p.Usage = "git domarkx [-q] [--color=WHEN] [--no-progress] COMMAND [ARGUMENT...]"
		one = "The answer is no, or some input was bad."
	} else {
		p.Verb = VerbOf(node)
		p.Name += " " + p.Verb
		p.Options = flagItems(node.Flags)
		p.Usage = usageLine(p.Name, node)
	}
	for _, arg := range node.Positional {
		p.Arguments = append(p.Arguments, Item{arg.Name, arg.Help})
	}
	p.exits = exitItems(strings.Join(strings.Fields(one), " "))
	if node.Type == kong.CommandNode {
		p.fields = fields(node.Target.Addr().Interface())
	}
	return p
}

func (p *Page) addCommands(root *kong.Node) {
	for _, child := range root.Children {
		if child.Hidden {
			continue
		}
		title := "Commands"
		if root.Parent == nil {
			title = child.ClosestGroup().Title
		}
		i := slices.IndexFunc(p.Groups, func(g group) bool { return g.title == title })
		if i < 0 {
			i = len(p.Groups)
			p.Groups = append(p.Groups, group{title: title})
		}
		p.Groups[i].commands = append(p.Groups[i].commands, Item{VerbOf(child), strings.TrimSuffix(child.Help, ".")})
	}
}

// VerbOf returns the words that follow the program's name to call a command.
func VerbOf(node *kong.Node) string {
	verb := node.Name
	for node = node.Parent; node != nil && node.Parent != nil; node = node.Parent {
		verb = node.Name + " " + verb
	}
	return verb
}

func flagItems(flags []*kong.Flag) []Item {
	var items []Item
	for _, f := range flags {
		if !f.Hidden {
			items = append(items, Item{flagTerm(f), f.Help})
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

// valueOf returns what follows an option's name in its description: a placeholder for the
// value, after a space unless the value is optional.
func valueOf(f *kong.Flag) string {
	switch {
	case !f.IsBool():
		return " " + cmp.Or(f.PlaceHolder, strings.ToUpper(f.Name))
	case f.PlaceHolder != "":
		return f.PlaceHolder
	}
	return ""
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

func exitItems(one string) []Item {
	items := []Item{{"0", "Done."}}
	if one != "" {
		items = append(items, Item{"1", one})
	}
	return append(items,
		Item{"128", "Something made it impossible; the message says what."},
		Item{"129", "The command line could not be understood, or -h asked how it is written."},
		Item{"130, 143", "An interrupt or a termination signal ended the command."})
}

// A blockKind is the kind of a [block].
type blockKind int

// The kinds of blocks.
const (
	paragraph blockKind = iota
	literal
	listItem
	heading
)

// A block is a paragraph, list item, heading or literal text of a command's help. The help is written in a small subset of
// Markdown: "## " starts a heading, "- " starts an item, four spaces start a literal line, an empty line ends a paragraph, and
// `backquotes` mark what the user types.
type block struct {
	kind blockKind
	text string // of a literal block: its lines, joined with \n
}

func parseBody(text string) []block {
	var blocks []block
	open := false // whether the next line continues the last block
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimRight(line, " \n")
		last := len(blocks) - 1
		switch {
		case strings.HasPrefix(line, "    "):
			if last >= 0 && blocks[last].kind == literal {
				blocks[last].text += "\n" + line[4:]
			} else {
				blocks = append(blocks, block{literal, line[4:]})
			}
			open = false
		case line == "":
			open = false
		case strings.HasPrefix(line, "## "):
			blocks = append(blocks, block{heading, line[3:]})
			open = false
		case strings.HasPrefix(line, "- "):
			blocks = append(blocks, block{listItem, line[2:]})
			open = true
		case open:
			blocks[last].text += " " + strings.TrimLeft(line, " ")
		default:
			blocks = append(blocks, block{paragraph, line})
			open = true
		}
	}
	return blocks
}
