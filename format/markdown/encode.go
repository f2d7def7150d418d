package markdown

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Encode writes a document. It uses the author's bytes where they were kept and still have their
// meaning (see [domarkx.Arrange]), and the canonical rendering elsewhere. The error is always nil.
func Encode(doc *domarkx.Document) ([]byte, error) {
	preamble := doc.Preamble
	if preamble.Layout == (domarkx.Layout{}) {
		preamble = WriteHeader(doc.Header)
	}
	layout := func(i int) *domarkx.Layout {
		if i == 0 {
			return &preamble.Layout
		}
		return &doc.Conversation[i-1].Layout
	}
	var out []byte
	for i, placed := range domarkx.Arrange(IncludesID(doc.Includes), 1+len(doc.Conversation), layout) {
		if len(out) > 0 {
			out = append(out, placed.Separator...)
		}
		switch {
		case placed.Form == domarkx.AsWritten && i == 0:
			out = append(out, preamble.Bytes...)
		case placed.Form == domarkx.AsWritten:
			out = append(out, doc.Conversation[i-1].Bytes...)
		case placed.Form == domarkx.Canonical && i == 0:
			out = append(out, RenderHeader(doc.Header)...)
		case placed.Form == domarkx.Canonical:
			out = append(out, RenderMessage(doc.Conversation[i-1].Message)...)
		}
	}
	return out, nil
}

// IncludesID identifies a set of included files sorted by path: 32 hexadecimal digits of a SHA-256
// over their paths and contents; "" for none. [domarkx.Arrange] compares it with Layout.Includes.
func IncludesID(includes []domarkx.Include) string {
	if len(includes) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, f := range includes {
		for _, part := range [][]byte{[]byte(f.Path), f.Data} {
			sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			sum.Write(part)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
