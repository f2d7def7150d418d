package main

import "strings"

// A blockKind is what a piece of help text is.
type blockKind int

// The kinds of blocks.
const (
	paragraph blockKind = iota
	literal
	listItem
	heading
)

// A block is a piece of help text. A command's help is written in a few marks of
// Markdown: "## " begins a heading, "- " an item, four blanks a literal line, an
// empty line ends a paragraph, and `backquotes` hold what is typed.
type block struct {
	kind blockKind
	text string // of a literal block: its lines
}

func parseBody(text string) []block {
	var blocks []block
	open := false // whether the last block takes the next line
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
