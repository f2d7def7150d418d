package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
)

// ParseContent reads Markdown as the content of one message: its top-level fences become code
// blocks, everything else remains text. No line begins a message, includes a file, or configures
// anything. Text that is not UTF-8 is [domarkx.ErrInvalid].
func ParseContent(text string) ([]domarkx.Block, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("reading the content of a message: %w: the text is not UTF-8", domarkx.ErrInvalid)
	}
	s := source{text: []byte(text)}
	var blocks []domarkx.Block
	err := split(s.text, true, func(sec section) error {
		for i := range sec.segments {
			sec.segments[i].other = true // a quote stays a single text
		}
		blocks = s.blocks(sec.segments)
		return nil
	})
	return blocks, err
}

// RenderContent returns blocks as Markdown with a blank line between them and no
// line end after the last. [ParseContent] of it gives the same blocks where ordinary
// Markdown can hold them.
func RenderContent(blocks []domarkx.Block) string {
	return string(appendBlocks(nil, blocks))
}

// appendBlocks appends the rendering of content.
func appendBlocks(dst []byte, blocks []domarkx.Block) []byte {
	size := 0
	for _, b := range blocks {
		size += 64 + len(b.Text)
	}
	dst = slices.Grow(dst, size)
	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, '\n')
		}
		if b.Type == domarkx.TextBlock {
			dst = append(append(dst, b.Text...), '\n')
		} else {
			dst = appendContent(dst, b)
		}
	}
	return bytes.TrimSuffix(dst, []byte("\n"))
}
