package search

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// scan sets the content to that of a stored message, without the time and memory that parsing takes. It returns false
// for a message that is not in the form in which this program writes nearly all messages. The content is undefined
// then, and the caller parses the message.
func (c *content) scan(data []byte) bool {
	c.reset()
	s := storedScanner{rest: data}
	switch {
	case s.skip("{\n  \"role\": \"user\",\n  "):
		c.role = domarkx.User
	case s.skip("{\n  \"role\": \"assistant\",\n  "):
		c.role = domarkx.Assistant
	default:
		return false
	}
	if s.skip("\"message_metadata\": ") {
		const end = "\n  }"
		object, rest, _ := bytes.Cut(s.rest, []byte(end+",\n  "))
		metadata, err := jsonvalue.ParseValue(s.rest[:min(len(object)+len(end), len(s.rest))])
		if err != nil || metadata.Kind() != jsonvalue.Object {
			return false
		}
		c.setModel(metadata)
		s.rest = rest
	}
	if !s.skip("\"content\": [\n    {\n") {
		return false
	}
	for c.scanBlock(&s) {
		if s.skip("\n    }\n  ]\n}\n") {
			return len(s.rest) == 0
		}
		if !s.skip("\n    },\n    {\n") {
			return false
		}
		c.separate()
	}
	return false
}

// scanBlock adds a block.
func (c *content) scanBlock(s *storedScanner) bool {
	start, ok := len(c.text), false
	if s.skip("      \"type\": \"text\",\n      \"value\": \"") {
		c.text, ok = s.text(c.text)
		c.prose = append(append(c.prose, c.text[start:]...), '\n')
		return ok
	}
	if !s.skip("      \"type\": \"code\",\n      \"language\": \"") {
		return false
	}
	language, ok := s.text(nil)
	if !ok || !s.skip(",\n      \"code\": \"") {
		return false
	}
	if !isCall(string(language)) {
		c.text, ok = s.text(c.text)
		c.prose = append(append(c.prose, c.text[start:]...), '\n')
		return ok
	}
	call, ok := s.text(nil)
	if ok {
		c.addCall(string(call), string(language) == toolcall.Language)
	}
	return ok
}

// A storedScanner reads the JSON of a stored message.
type storedScanner struct{ rest []byte }

// skip moves past a text and returns true if the rest begins with that text.
func (s *storedScanner) skip(text string) bool {
	if len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		return false
	}
	s.rest = s.rest[len(text):]
	return true
}

// text appends a string, whose opening quote was read, to dst. It returns false for a string with escapes of more than
// one character, and for an invalid string.
func (s *storedScanner) text(dst []byte) ([]byte, bool) {
	start, ascii := len(dst), true
	for {
		n, plain := ordinary(s.rest)
		ascii = ascii && plain
		dst = append(dst, s.rest[:n]...)
		if s.rest = s.rest[n:]; len(s.rest) < 2 {
			return dst, false
		}
		if s.rest[0] == '"' {
			s.rest = s.rest[1:]
			return dst, ascii || utf8.Valid(dst[start:])
		}
		c := s.rest[1]
		switch {
		case s.rest[0] != '\\':
			return dst, false
		case c == 'n':
			c = '\n'
		case c == 't':
			c = '\t'
		case c == 'r':
			c = '\r'
		case c == 'b':
			c = '\b'
		case c == 'f':
			c = '\f'
		case c != '"' && c != '\\' && c != '/':
			return dst, false
		}
		dst = append(dst, c)
		s.rest = s.rest[2:]
	}
}

// ordinary returns how many bytes the rest of a string has before the next quote, escape or control character, and
// whether these bytes are ASCII. It reads eight bytes at once: its subtractions set the highest bit of the first of
// these characters.
func ordinary(text []byte) (n int, ascii bool) {
	const each, high = 0x0101010101010101, 0x8080808080808080
	all := uint64(0)
	for ; len(text)-n >= 8; n += 8 {
		b := binary.LittleEndian.Uint64(text[n:])
		quote, escape := b^'"'*each, b^'\\'*each
		found := ((quote-each)&^quote | (escape-each)&^escape | (b-' '*each)&^b) & high
		if found != 0 {
			n += bits.TrailingZeros64(found) / 8
			return n, all&high == 0 && isASCII(text[n&^7:n])
		}
		all |= b
	}
	for n < len(text) && text[n] != '"' && text[n] != '\\' && text[n] >= ' ' {
		all |= uint64(text[n])
		n++
	}
	return n, all&high == 0
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
