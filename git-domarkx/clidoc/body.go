package clidoc

import "strings"

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
