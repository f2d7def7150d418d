package domarkx

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A Tail describes how the bytes of a piece of Markdown end.
type Tail uint8

// The tails. The separator that follows a piece depends on its tail.
const (
	TailLine  Tail = iota // one LF
	TailCRLF              // one CRLF
	TailOpen              // no line end
	TailBlank             // a blank line, or content after which a heading needs none
)

// A Layout describes how a piece of a Markdown document is written: the preamble before the first
// heading, or one message. The zero Layout is that of a piece that no author has written.
//
// A document consists of its pieces with separators between them; see [Arrange]. A message's bytes
// run from its heading to the next one. They exclude the blank line before that heading if
// [Separator] restores it.
type Layout struct {
	// Digest is the SHA-256 of the piece's bytes, and Size their number: of the author's bytes if
	// they are stored, else of the canonical rendering.
	Digest [32]byte
	Size   int64

	Verbatim bool   // the author's bytes are stored, because they differ from the canonical rendering
	Tail     Tail   // how the bytes end
	Fence    string // the end of a code fence that the piece leaves open; "" if it leaves none open
	Tight    bool   // the piece follows without the blank line that is usual there

	// Span is the number of messages after this piece whose headings come from a file that is
	// included inside its bytes. Each of these messages has Within set to its distance from this
	// piece, and no bytes of its own.
	Span   int
	Within int

	// Includes identifies the included files with which these bytes were read; "" if they include
	// none. A piece within another has that piece's SpanID.
	Includes string
}

func compareLayout(a, b Layout) int {
	truth := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(bytes.Compare(a.Digest[:], b.Digest[:]), cmp.Compare(a.Size, b.Size), cmp.Compare(truth(a.Verbatim), truth(b.Verbatim)),
		cmp.Compare(a.Tail, b.Tail), cmp.Compare(a.Fence, b.Fence), cmp.Compare(truth(a.Tight), truth(b.Tight)),
		cmp.Compare(a.Span, b.Span), cmp.Compare(a.Within, b.Within), cmp.Compare(a.Includes, b.Includes))
}

// SpanID identifies the bytes of a piece and its included files, for the pieces within it: 32
// hexadecimal digits.
func (l Layout) SpanID() string {
	sum := sha256.Sum256(append(l.Digest[:], l.Includes...))
	return hex.EncodeToString(sum[:16])
}

// A Form selects the bytes with which the document represents a piece.
type Form uint8

// The forms.
const (
	Canonical Form = iota // the canonical rendering of the JSON
	AsWritten             // the author's bytes
	Nothing               // none: an earlier piece contains them
)

// A Placed is a piece's place in a document: the separator before it, and its form.
type Placed struct {
	Separator string
	Form      Form
}

// Arrange places the n pieces of a document; the first is the preamble. includes identifies the
// present included files. Arrange uses the author's bytes where they keep their meaning: with the
// same included files, and followed by all messages of their span in order.
//
// It writes no separator at the beginning of the document, because only rendering shows whether the
// preamble is empty.
func Arrange(includes string, n int, layout func(i int) *Layout) []Placed {
	placed := make([]Placed, n)
	anew, before := &Layout{Tail: TailLine, Size: -1}, &Layout{Tail: TailBlank}
	for i := 0; i < n; i++ {
		piece, span := layout(i), 0
		switch {
		case piece.Verbatim && piece.Within == 0 && (piece.Includes == "" || piece.Includes == includes) && spanIntact(i, n, layout):
			placed[i].Form, span = AsWritten, piece.Span
		case piece.Verbatim || piece.Within > 0:
			piece = anew // canonical rendering
		}
		if i > 0 || piece.Size != 0 {
			placed[i].Separator = Separator(*before, *piece)
			before = piece
		}
		for range span {
			i++
			placed[i].Form = Nothing
		}
	}
	return placed
}

// spanIntact reports whether the messages of piece i's span follow it.
func spanIntact(i, n int, layout func(i int) *Layout) bool {
	first := layout(i)
	if first.Span >= n-i {
		return false
	}
	if first.Span == 0 {
		return true
	}
	id := first.SpanID()
	for k := 1; k <= first.Span; k++ {
		if l := layout(i + k); l.Within != k || l.Includes != id {
			return false
		}
	}
	return true
}

// Separator returns the text between two pieces: the end of an open fence, a missing line end, and
// a blank line unless the next piece is tight.
func Separator(before, next Layout) string {
	var b strings.Builder
	tail := before.Tail
	if before.Fence != "" {
		if tail == TailOpen {
			b.WriteByte('\n')
		}
		b.WriteString(before.Fence + "\n")
		tail = TailLine
	}
	switch tail {
	case TailOpen:
		b.WriteByte('\n')
		fallthrough
	case TailLine:
		if !next.Tight {
			b.WriteByte('\n')
		}
	case TailCRLF:
		if !next.Tight {
			b.WriteString("\r\n")
		}
	}
	return b.String()
}
