package main

import (
	"regexp"
	"strings"
	"sync"

	"github.com/rivo/uniseg"
)

// marks are the beginnings of a line in Markdown that do not belong to its text: indentation, quotes and the mark of a list item.
var marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ ]*(?:>[ ]?)*(?:(?:[-*+]|[0-9]{1,9}[.)])[ ]+)?`) })

// fenceMark is the beginning of a line that opens or closes a fence around code.
var fenceMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^[ >]*(?:[-*+] +|[0-9]{1,9}[.)] +)?(`{3,}|~{3,})(.*)$")
})

// codeIndent is the indentation of code without a fence (CommonMark, section 4.4).
const codeIndent = 4

// wrapMarkdown returns the lines of a text in Markdown, at most a width in columns wide. Lines of code stay as they are. The
// lines into which a line is divided have the same quotes, and the indentation of its text.
func wrapMarkdown(text string, width int) (lines []string) {
	fence := ""            // of the code that the line is in
	blank, item := true, 0 // whether the line before was blank or code; the indentation of the text in the last list item
	for line := range strings.SplitSeq(text, "\n") {
		if m := fenceMark().FindStringSubmatch(line); fence != "" {
			if m != nil && strings.HasPrefix(m[1], fence) && strings.TrimSpace(m[2]) == "" {
				fence = ""
			}
			lines = append(lines, line)
			continue
		} else if m != nil && (m[1][0] == '~' || !strings.Contains(m[2], "`")) {
			fence = m[1]
			lines = append(lines, line)
			continue
		}
		plain := strings.TrimRight(withoutTabs(line), " ")
		if plain == "" {
			lines, blank = append(lines, ""), true
			continue
		}
		indent := len(plain) - len(strings.TrimLeft(plain, " "))
		if indent < item {
			item = 0
		}
		if blank && indent >= item+codeIndent {
			lines = append(lines, line)
			continue
		}
		mark := marks().FindString(plain)
		if trimmed := strings.TrimLeft(mark, " "); trimmed != "" && trimmed[0] != '>' {
			item = len(mark)
		}
		blank = false
		if len(mark) > width/2 {
			mark = ""
		}
		hang := strings.Map(func(r rune) rune {
			if r == '>' {
				return r
			}
			return ' '
		}, mark)
		for i, part := range wrap(plain[len(mark):], width-uniseg.StringWidth(mark)) {
			if i == 0 {
				lines = append(lines, mark+part)
			} else {
				lines = append(lines, hang+part)
			}
		}
	}
	return lines
}
