// Package markdown reads and writes sessions as Markdown, in the canonical form and in the older
// spellings. SPEC.md beside this code defines the format.
//
// A document is split into pieces: the text before the first heading, and one piece per message. A
// piece that equals the canonical rendering of its content needs no bytes of its own. For any
// other, the author's bytes are kept, so that [Encode] restores exactly the bytes that [Decode]
// read.
package markdown

import (
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

// Codec returns the codec for Markdown.
func Codec() format.Codec { return reading(maxWhole) }

// reading returns the codec with another limit in place of [maxWhole].
func reading(whole int64) format.Codec {
	return format.Codec{
		Name:       "md",
		Extensions: []string{".md", ".markdown"},
		Detect:     Detect,
		Decode:     Decode,
		Open:       opening(whole),
		Encode:     func(doc *domarkx.Document, _ format.Target) ([]byte, error) { return Encode(doc) },
	}
}
