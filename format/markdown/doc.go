// Package markdown reads and writes sessions as Markdown: the canonical form, and
// the older spellings. SPEC.md beside this code is the format.
//
// A document is cut into pieces, what stands before the first heading and one for
// each message. A piece whose bytes are the canonical rendering of what was read
// from them is kept as that alone; of any other the author's bytes are kept, so
// that [Encode] of what [Decode] gave are the same bytes.
package markdown

import (
	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
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
