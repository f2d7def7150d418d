// Package glue divides the text of a foreign message, which is Markdown, into content
// blocks such that the very same text can be made of them again.
package glue

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// Split returns the blocks of a message's text, and the glue with which [Join] makes
// the very same text of them: what stands before, between and after them, the fences
// of code among it. The glue is nil when the blocks alone will do. Text that is no
// Unicode, or that blocks cannot hold, is one text block.
func Split(content string) ([]domarkx.Block, []string) {
	whole := []domarkx.Block{{Type: domarkx.TextBlock, Text: content}}
	if !utf8.ValidString(content) {
		return whole, nil
	}
	blocks, err := markdown.ParseContent(content)
	if err != nil {
		return whole, nil
	}
	if len(blocks) == 1 && blocks[0].Type == domarkx.TextBlock && blocks[0].Text == content || markdown.RendersAs(blocks, content) {
		return blocks, nil
	}
	glue := make([]string, 0, len(blocks)+1)
	rest := content
	for _, b := range blocks {
		at := strings.Index(rest, b.Text)
		if b.Type == domarkx.CodeBlock {
			at = codeStart(rest, b.Text)
		}
		if at < 0 {
			return whole, nil
		}
		glue = append(glue, rest[:at])
		rest = rest[at+len(b.Text):]
	}
	glue = append(glue, rest)
	if glued, ok := withGlue(blocks, glue); !ok || glued != content {
		return whole, nil
	}
	return blocks, glue
}

// codeStart returns where the code of a block stands in text that goes on after the
// block before it: the line after the opening fence.
func codeStart(text, code string) int {
	fence := strings.IndexAny(text, "`~")
	if fence < 0 {
		return -1
	}
	line := strings.IndexByte(text[fence:], '\n')
	if line < 0 {
		if code == "" {
			return len(text)
		}
		return -1
	}
	start := fence + line + 1
	if at := strings.Index(text[start:], code); at >= 0 {
		return start + at
	}
	return -1
}

// Join returns the text that blocks make: with the glue if that still fits, else as
// ordinary Markdown.
func Join(blocks []domarkx.Block, glue []string) string {
	if glued, ok := withGlue(blocks, glue); ok {
		return glued
	}
	return markdown.RenderContent(blocks)
}

// Value returns glue as the member [domarkx.MetadataGlue] of message_metadata, from
// which [domarkx.Message.Glue] reads it.
func Value(glue []string) domarkx.Value {
	items := make([]domarkx.Value, len(glue))
	for i, s := range glue {
		items[i] = domarkx.StringValue(s)
	}
	return domarkx.ArrayValue(items...)
}

// withGlue returns what glue makes of blocks, and whether it reads as these blocks.
func withGlue(blocks []domarkx.Block, glue []string) (string, bool) {
	if len(glue) != len(blocks)+1 {
		return "", false
	}
	var b strings.Builder
	for i, block := range blocks {
		b.WriteString(glue[i])
		b.WriteString(block.Text)
	}
	b.WriteString(glue[len(blocks)])
	return b.String(), ReadsAs(b.String(), blocks)
}

// ReadsAs reports whether text divides into exactly these blocks, but for members
// that the snapshot format does not know.
func ReadsAs(content string, blocks []domarkx.Block) bool {
	if !utf8.ValidString(content) {
		return len(blocks) == 1 && blocks[0].Type == domarkx.TextBlock && blocks[0].Text == content
	}
	read, err := markdown.ParseContent(content)
	return err == nil && Same(read, blocks)
}

// Same reports whether blocks are equal but for members that the format does not know.
func Same(a, b []domarkx.Block) bool {
	return slices.EqualFunc(a, b, func(a, b domarkx.Block) bool {
		return a.Type == b.Type && a.Text == b.Text && a.Language == b.Language && a.HasName == b.HasName && a.Name == b.Name
	})
}
