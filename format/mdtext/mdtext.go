// Package mdtext splits the text of a foreign message, which is Markdown, into content
// blocks, and joins the blocks to exactly the same text again. It also finds the images in
// such text.
package mdtext

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// Split returns the blocks of a message's text, and the glue ([domarkx.Message.Glue]) from which [Join] restores
// the text: the strings before, between and after the blocks, including code fences. The
// glue is nil if the blocks alone suffice. Text that is not valid UTF-8, or that does not
// survive being split, becomes a single text block.
func Split(content string) ([]domarkx.Block, []string) {
	whole := []domarkx.Block{{Type: domarkx.TextBlock, Text: content}}
	if !utf8.ValidString(content) {
		return whole, nil
	}
	blocks, err := markdown.ParseContent(content)
	if err != nil {
		return whole, nil
	}
	if len(blocks) == 1 && blocks[0].Type == domarkx.TextBlock && blocks[0].Text == content || markdown.RenderContent(blocks) == content {
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
	if joined, ok := joinGlue(blocks, glue); !ok || joined != content {
		return whole, nil
	}
	return blocks, glue
}

// codeStart returns the offset of a block's code in text, which begins after the block
// before it: the code starts on the line after the opening fence. It returns -1 if text
// does not contain the block.
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

// Join returns the text of blocks. It uses the glue if it still fits the blocks, and
// renders them as ordinary Markdown otherwise.
func Join(blocks []domarkx.Block, glue []string) string {
	if joined, ok := joinGlue(blocks, glue); ok {
		return joined
	}
	return markdown.RenderContent(blocks)
}

// joinGlue interleaves blocks and glue, and reports whether the result parses as these blocks.
func joinGlue(blocks []domarkx.Block, glue []string) (string, bool) {
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

// ReadsAs reports whether content parses as exactly these blocks, ignoring members that
// the snapshot format does not define.
func ReadsAs(content string, blocks []domarkx.Block) bool {
	if !utf8.ValidString(content) {
		return len(blocks) == 1 && blocks[0].Type == domarkx.TextBlock && blocks[0].Text == content
	}
	read, err := markdown.ParseContent(content)
	return err == nil && Same(read, blocks)
}

// Same reports whether blocks are equal, ignoring members that the snapshot format does
// not define.
func Same(a, b []domarkx.Block) bool {
	return slices.EqualFunc(a, b, func(a, b domarkx.Block) bool {
		return a.Type == b.Type && a.Text == b.Text && a.Language == b.Language && a.HasName == b.HasName && a.Name == b.Name
	})
}
