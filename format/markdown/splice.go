package markdown

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Splice replaces the n blocks of a message's content from block at on by the code blocks insert.
// The replaced blocks and the one before them must be code blocks. All other bytes of the author's
// are kept, unless the replaced blocks have no bytes of their own (they came from an include, or
// from a block with the whole message), in which case the message becomes canonical. include reads
// included files, as for [Decode]; it may be nil.
func Splice(w domarkx.WrittenMessage, at, n int, insert []domarkx.Block, include func(string) ([]byte, error)) domarkx.WrittenMessage {
	next := domarkx.WrittenMessage{Message: w.Message, ID: w.ID, Date: w.Date}
	next.Content = slices.Concat(w.Content[:at], insert, w.Content[at+n:])
	canonical := WriteMessage(next.Message).Written
	canonical.Tight = w.Tight
	next.Written = canonical
	if !w.Verbatim || w.Within > 0 || w.Span > 0 {
		return next
	}
	s := splicer{message: w.Message, raw: w.Bytes, include: include}
	written, atEnd, ok := s.splice(at, n, insert)
	if !ok || bytes.Equal(written, RenderMessage(next.Message)) {
		return next
	}
	fence, ok := s.reads(written, next.Message)
	if !ok {
		return next
	}
	next.Layout = w.Layout
	next.Digest, next.Size, next.Fence = sha256.Sum256(written), int64(len(written)), fence
	if atEnd {
		next.Tail = tailOf(written)
	}
	next.Bytes = written
	return next
}

// A splicer changes the bytes of one message.
type splicer struct {
	message domarkx.Message
	raw     []byte
	include func(string) ([]byte, error)
}

// splice returns the new bytes, and whether their end is another one; false when
// the blocks have no bytes of their own.
func (s splicer) splice(at, n int, insert []domarkx.Block) (written []byte, atEnd, ok bool) {
	d, sec, err := s.section(s.raw)
	if err != nil {
		return nil, false, false
	}
	code, ok := s.code(d, sec)
	if !ok {
		return nil, false, false
	}
	before := 0 // code blocks before the first to go
	for _, b := range s.message.Content[:at] {
		if b.Type == domarkx.CodeBlock {
			before++
		}
	}
	if before == 0 || before+n > len(code) {
		return nil, false, false
	}
	_, cut, ok := d.inDocument(code[before-1])
	if !ok {
		return nil, false, false
	}
	eol := "\n"
	if line, next := cutLine(s.raw, 0); next-len(line) == 2 {
		eol = "\r\n"
	}
	written = slices.Clone(s.raw[:cut])
	if !bytes.HasSuffix(written, []byte("\n")) {
		written = append(written, eol...)
	}
	if sec.unclosed != "" && before == len(code) && code[before-1].end == sec.segments[len(sec.segments)-1].end {
		written = append(append(written, sec.unclosed...), eol...)
	}
	for _, b := range insert {
		block := appendContent([]byte("\n"), b)
		written = append(written, bytes.ReplaceAll(block, []byte("\n"), []byte(eol))...)
	}
	for _, seg := range code[before : before+n] {
		start, end, ok := d.inDocument(seg)
		if !ok || start < cut {
			return nil, false, false
		}
		if between := s.raw[cut:start]; len(bytes.TrimSpace(between)) > 0 {
			written = append(written, between...) // what configures the workspace
		}
		cut = end
	}
	return append(written, s.raw[cut:]...), cut == len(s.raw), true
}

// section splits the bytes of a message into segments.
func (s splicer) section(raw []byte) (*decoder, section, error) {
	d, err := open(raw, "", s.include)
	if err != nil {
		return nil, section{}, err
	}
	var last section
	err = sections(d.text, func(sec section) error {
		last = sec
		return nil
	})
	return d, last, err
}

// code returns the segments that are the code blocks of the message, one each.
func (s splicer) code(d *decoder, sec section) ([]segment, bool) {
	segments, err := d.content(sec, func(segment) error { return nil })
	if err != nil || len(segments) > 0 && segments[0].is(wholeMessage) {
		return nil, false
	}
	if len(segments) > 0 && segments[0].is(messageMetadata) {
		segments = segments[1:]
	}
	segments = slices.DeleteFunc(segments, func(seg segment) bool { return !seg.code })
	n := 0
	for _, b := range s.message.Content {
		if b.Type == domarkx.CodeBlock {
			n++
		}
	}
	return segments, n == len(segments)
}

// reads reports whether data reads as exactly the given message, and returns the fence that data
// leaves open.
func (s splicer) reads(raw []byte, m domarkx.Message) (fence string, ok bool) {
	d, err := open(raw, "", s.include)
	if err != nil || d.read() != nil {
		return "", false
	}
	same := len(d.doc.Conversation) == 1 && d.starts[0] == 0 && d.doc.Conversation[0].Message.Equal(m)
	return d.unclosed, same
}

// inDocument returns the position of a segment in the document itself; false if its beginning or
// end is from an included file.
func (d *decoder) inDocument(seg segment) (start, end int, ok bool) {
	first, last := d.origin(seg.start), d.origin(seg.end-1)
	if first.raw < 0 || last.raw < 0 {
		return 0, 0, false
	}
	return first.raw + seg.start - first.at, last.raw + seg.end - last.at, true
}
