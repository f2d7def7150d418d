package domarkx

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A Tail tells how the bytes of a piece of Markdown end.
type Tail uint8

// The tails. The separator that follows a piece depends on its tail.
const (
	TailLine  Tail = iota // one LF
	TailCRLF              // one CRLF
	TailOpen              // no line end
	TailBlank             // a blank line, or there is nothing that a heading must keep away from
)

// A Layout is how one piece of a Markdown document (the preamble before the
// first heading, or one message) is written. The zero Layout is unwritten.
//
// A document is its pieces with separators between them; see [Arrange]. The
// bytes of a message run from its heading to the next one, without the blank
// line in front of that when [Separator] gives it back.
type Layout struct {
	// Digest is the SHA-256 and Size the length of the piece's bytes: the author's
	// when they are kept, else those of the canonical rendering.
	Digest [32]byte
	Size   int64

	Verbatim bool   // the author's bytes are kept, for they differ from the canonical rendering
	Tail     Tail   // how the bytes end
	Fence    string // the code fence that the end of the document closed; "" when none is open
	Tight    bool   // no blank line before the piece, although it could have one

	// Span counts the messages after this piece whose headings came out of an
	// include inside these bytes; each of them has Within set to its distance from
	// here, and no bytes of its own.
	Span   int
	Within int

	// Includes identifies the included files that these bytes were read with; ""
	// when they include nothing. For a piece within another it is that one's SpanID.
	Includes string
}

// compareLayout orders layouts.
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

// SpanID identifies the bytes of a piece and what they include, for the pieces
// within it: 32 hexadecimal digits.
func (l Layout) SpanID() string {
	sum := sha256.Sum256(append(l.Digest[:], l.Includes...))
	return hex.EncodeToString(sum[:16])
}

// A Form tells which bytes of a piece stand in the document.
type Form uint8

// The forms.
const (
	Canonical Form = iota // the canonical rendering of the JSON
	AsWritten             // the author's bytes
	Nothing               // none: they are inside those of an earlier piece
)

// A Placed is a piece in its place: the separator before it, and its form.
type Placed struct {
	Separator string
	Form      Form
}

// Arrange says how the n pieces of a document follow each other; the first is the
// preamble. Author's bytes are used where they still mean what they meant: with
// the same includes, and all the messages of a span behind it in order.
//
// At the very beginning of the document no separator is written: the preamble
// may turn out to be empty only when it is rendered.
func Arrange(includes string, n int, layout func(i int) *Layout) []Placed {
	placed := make([]Placed, n)
	anew, before := &Layout{Tail: TailLine, Size: -1}, &Layout{Tail: TailBlank}
	for i := 0; i < n; i++ {
		piece, span := layout(i), 0
		switch {
		case piece.Verbatim && piece.Within == 0 && (piece.Includes == "" || piece.Includes == includes) && spanIntact(i, n, layout):
			placed[i].Form, span = AsWritten, piece.Span
		case piece.Verbatim || piece.Within > 0:
			piece = anew // rendered
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

// spanIntact reports whether the messages of the span of piece i stand behind it.
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

// Separator returns what stands between two pieces: the rest of an open fence,
// the missing line end, and a blank line unless the next piece is tight.
func Separator(before, next Layout) string {
	if before.Fence == "" && before.Tail == TailLine && !next.Tight { // as most are
		return "\n"
	}
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
