package engine

import (
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// preview returns the beginning of a message's text for summaries. Code is shown with its fences.
func preview(m domarkx.Message) string {
	isCode := func(b domarkx.Block) bool { return b.Type == domarkx.CodeBlock }
	if m.Glue() != nil || !slices.ContainsFunc(m.Content, isCode) {
		return domarkx.Preview(m) // keeps the fences that were read
	}
	const enough = 300 // bytes; more than the 50 units that are shown
	n, size := 0, 0
	for ; n < len(m.Content) && size < enough; n++ {
		size += len(m.Content[n].Text)
	}
	return domarkx.Preview(domarkx.Message{Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: markdown.RenderContent(m.Content[:n])}}})
}
