package view

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
)

// Preview returns the beginning of a message's text for summaries. Code is shown with its fences.
func Preview(m domarkx.Message) string {
	isCode := func(b domarkx.Block) bool { return b.Type == domarkx.CodeBlock }
	if m.Glue() != nil || !slices.ContainsFunc(m.Content, isCode) {
		return domarkx.Preview(m) // keeps the fences that were read
	}
	const enough = 300 // bytes; more than the 50 units that a preview shows
	n, size := 0, 0
	for ; n < len(m.Content) && size < enough; n++ {
		size += len(m.Content[n].Text)
	}
	return domarkx.Preview(domarkx.Message{Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: markdown.RenderContent(m.Content[:n])}}})
}

// FirstLine returns the first non-blank line of a message. That of a tool call is the tool with its
// first text. A thought of the model counts only if there is nothing else.
func FirstLine(m domarkx.Message) string {
	thought := ""
	for _, b := range m.Content {
		if b.Type == domarkx.CodeBlock && b.Language == "tool-call" {
			if line := callLine(b.Text); line != "" {
				return line
			}
		}
		for line := range strings.Lines(b.Text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if b.Type != domarkx.CodeBlock || b.Language != "thought" {
				return line
			}
			if thought == "" {
				thought = line
			}
			break
		}
	}
	return thought
}

// callLine returns the tool of a call and the first line of its first argument that is text, or "" if
// the block does not name a tool.
func callLine(block string) string {
	call, err := jsonvalue.ParseValue([]byte(block))
	tool, _ := call.Get("tool")
	if err != nil || strings.TrimSpace(tool.Text()) == "" {
		return ""
	}
	line := tool.Text()
	arguments, _ := call.Get("arguments")
	for _, argument := range arguments.Members() {
		if text, _, _ := strings.Cut(strings.TrimSpace(argument.Value.Text()), "\n"); text != "" && argument.Value.Kind() == jsonvalue.String {
			line += " " + text
			break
		}
	}
	return strings.TrimSpace(line)
}
