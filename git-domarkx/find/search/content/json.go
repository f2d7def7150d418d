package content

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonScanner copies JSON to out without the escapes in strings, and stops after each value that is a string or
// number. It also copies text that is not valid JSON, and what follows the last value.
type jsonScanner struct {
	data string
	pos  int
	out  []byte

	// Set when next returns true:
	start    int    // position of the value in out
	isString bool   // whether the value is a string, with a quote before it and closing bytes after it
	closing  int    // number of bytes after the value that close it: 1, or 0 if the text ends in the string
	key      string // name of the member that is the value, or that contains the value in arrays
	depth    int    // number of objects and arrays that contain the value
}

func (s *jsonScanner) next() bool {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		switch {
		case c == '"':
			s.start, s.isString = len(s.out), true
			s.string()
			if !s.isKey() {
				return true
			}
			s.key = string(s.out[s.start+1 : len(s.out)-s.closing])
			continue
		case c == '-' || c >= '0' && c <= '9':
			s.start, s.isString, s.closing = len(s.out), false, 0
			end := s.pos
			for end < len(s.data) && strings.IndexByte("+-.eE0123456789", s.data[end]) >= 0 {
				end++
			}
			s.out = append(s.out, s.data[s.pos:end]...)
			s.pos = end
			return true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
		s.out = append(s.out, c)
		s.pos++
	}
	return false
}

// isKey reports whether a colon follows, so that the string before it is a member's name.
func (s *jsonScanner) isKey() bool {
	rest := s.data[s.pos:]
	for rest != "" && (rest[0] == ' ' || rest[0] == '\n' || rest[0] == '\t' || rest[0] == '\r') {
		rest = rest[1:]
	}
	return rest != "" && rest[0] == ':'
}

// string copies a string with its quotes.
func (s *jsonScanner) string() {
	s.out = append(s.out, '"')
	s.pos++
	for s.pos < len(s.data) {
		n := strings.IndexAny(s.data[s.pos:], "\"\\")
		if n < 0 {
			n = len(s.data) - s.pos
		}
		s.out = append(s.out, s.data[s.pos:s.pos+n]...)
		s.pos += n
		if s.pos == len(s.data) {
			break
		}
		if s.data[s.pos] == '"' {
			s.out = append(s.out, '"')
			s.pos++
			s.closing = 1
			return
		}
		s.escape()
	}
	s.closing = 0
}

// escape copies the character that an escape stands for.
func (s *jsonScanner) escape() {
	s.pos++
	if s.pos == len(s.data) {
		s.out = append(s.out, '\\')
		return
	}
	c := s.data[s.pos]
	s.pos++
	switch c {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		r, ok := hex4(s.data[s.pos:])
		if !ok {
			s.out = append(s.out, '\\', 'u')
			return
		}
		s.pos += 4
		if low, ok := strings.CutPrefix(s.data[s.pos:], `\u`); ok && utf16.IsSurrogate(r) {
			if low, ok := hex4(low); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				r = utf16.DecodeRune(r, low)
				s.pos += 6
			}
		}
		s.out = utf8.AppendRune(s.out, r)
		return
	}
	s.out = append(s.out, c)
}

func hex4(s string) (rune, bool) {
	n, err := strconv.ParseUint(s[:min(len(s), 4)], 16, 16)
	return rune(n), err == nil && len(s) >= 4
}
