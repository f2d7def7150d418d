package clidoc

import (
	"fmt"
	"strings"
)

// TextWidth is the width of help text, in columns.
const TextWidth = 80

// Screen returns the short help of -h, which fits on one screen.
func (p *Page) Screen() string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s.\n", foldUsage(p.Usage, "           "), p.Summary)
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "\n%s\n", g.title)
		writeItems(&b, g.commands, commandColumn(g.commands))
	}
	for _, list := range [][]Item{p.Arguments, p.Options} {
		if len(list) > 0 {
			b.WriteByte('\n')
			writeItems(&b, list, 22)
		}
	}
	switch {
	case p.Verb == "":
		// The usage line shows the options of every command: a list of them would make this text too long for a screen. Git
		// itself handles --help, by showing the manual page.
		b.WriteString("\nSee 'git domarkx help COMMAND'; for --help, 'git domarkx man --install' first.\n")
	case len(p.Groups) > 0:
		fmt.Fprintf(&b, "\nSee 'git domarkx help %s COMMAND' for all about a command.\n", p.Verb)
	default:
		fmt.Fprintf(&b, "\nSee 'git domarkx help %s' for more.\n", p.Verb)
	}
	return b.String()
}

// Text returns the whole page for a terminal.
func (p *Page) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "NAME\n    %s - %s\n\nUSAGE\n    %s\n", p.Name, lowerFirst(p.Summary), foldUsage(p.Usage, "        "))
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "\n%s\n", strings.ToUpper(g.title))
		writeItems(&b, g.commands, commandColumn(g.commands))
	}
	if len(p.Body) > 0 {
		if p.Body[0].kind != heading {
			b.WriteString("\nDESCRIPTION\n")
		}
		writeBody(&b, p.Body)
	}
	for _, section := range p.sections() {
		fmt.Fprintf(&b, "\n%s\n", strings.ToUpper(section.title))
		writeItems(&b, section.commands, 22)
	}
	return b.String()
}

// sections returns the non-empty lists at the end of a page.
func (p *Page) sections() []group {
	var sections []group
	for _, g := range []group{{"Arguments", p.Arguments}, {"Options", p.Options}, {"Options of every command", p.globals}, {"Fields with --json", p.fields}, {"Exit status", p.exits}} {
		if len(g.commands) > 0 {
			sections = append(sections, g)
		}
	}
	return sections
}

func writeBody(b *strings.Builder, body []block) {
	for i, bl := range body {
		if i > 0 && !(bl.kind == listItem && body[i-1].kind == listItem) && body[i-1].kind != heading {
			b.WriteByte('\n')
		}
		switch bl.kind {
		case heading:
			fmt.Fprintf(b, "%s\n", strings.ToUpper(bl.text))
		case literal:
			for line := range strings.Lines(bl.text + "\n") {
				b.WriteString("        " + line)
			}
		case listItem:
			wrap(b, "    * ", "      ", unquoted(bl.text))
		default:
			wrap(b, "    ", "    ", unquoted(bl.text))
		}
	}
}

// commandColumn returns the column in which the summaries of commands start.
func commandColumn(commands []Item) int {
	column := 12
	for _, c := range commands {
		column = max(column, len(c.Term)+2)
	}
	return column
}

func writeItems(b *strings.Builder, items []Item, column int) {
	indent := strings.Repeat(" ", 4+column)
	for _, it := range items {
		first := "    " + it.Term
		if len(first) >= len(indent)-1 {
			b.WriteString(first + "\n")
			first = indent
		}
		wrap(b, first+strings.Repeat(" ", len(indent)-len(first)), indent, unquoted(it.Text))
	}
}

// wrap writes text in lines of at most [TextWidth] columns. It begins the first line with first and the others with rest.
func wrap(b *strings.Builder, first, rest, text string) {
	line := first
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > TextWidth {
			b.WriteString(line + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

func unquoted(s string) string { return strings.ReplaceAll(s, "`", "") }

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// foldUsage breaks a usage line that is much wider than [TextWidth], between two of its parts.
func foldUsage(usage, indent string) string {
	if len([]rune(usage)) <= TextWidth+28 {
		return usage
	}
	depth := 0
	held := strings.Map(func(c rune) rune {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ' ' && depth > 0:
			return 0 // not a place to break
		}
		return c
	}, usage)
	var b strings.Builder
	wrap(&b, "", indent, held)
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x00", " ")
}
