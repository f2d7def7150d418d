package jsonvalue

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/wtf8"
)

// str reads a string. If its value is skipped, it returns "".
func (p *parser) str() (string, error) {
	p.pos++
	var err error
	for buf := p.plain(p.buf[:0]); p.pos < len(p.data); buf = p.plain(buf) {
		switch c := p.data[p.pos]; c {
		case '"':
			p.pos++
			p.buf = buf
			return p.text(buf), nil
		case '\\':
			if buf, err = p.escapes(buf); err != nil {
				return "", err
			}
		default:
			return "", p.fail("control character 0x%02x in a string, expected an escape", c)
		}
	}
	return "", p.fail("unexpected end of input in a string, expected '\"'")
}

// plain appends the bytes before the next quote, escape or control character. If the string is skipped, it returns nothing.
func (p *parser) plain(buf []byte) []byte {
	n, ascii := plainRun(p.data[p.pos:])
	run := p.data[p.pos : p.pos+n]
	p.pos += n
	switch {
	case p.skipping > 0:
		return buf[:0]
	case !ascii:
		run = validUTF8(run)
	}
	return append(buf, run...)
}

// maxText is the size in bytes up to which equal strings share their memory.
const maxText = 24

// text returns data as a string. Short strings mostly repeat: names, types, roles, models, directories.
func (p *parser) text(data []byte) string {
	n := len(data)
	if n == 0 || n > maxText {
		return string(data)
	}
	slot := &p.texts[(n*31+int(data[0])*7+int(data[n-1])*3+int(data[n/2]))%len(p.texts)]
	if *slot != string(data) {
		*slot = string(data)
	}
	return *slot
}

// escaped maps the character after a backslash to its meaning, except for \u.
var escaped = [256]byte{'n': '\n', '"': '"', '\\': '\\', '/': '/', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// escapes decodes an escape, and the single-character escapes directly after it: indentation often consists of several.
func (p *parser) escapes(buf []byte) ([]byte, error) {
	if p.pos+1 >= len(p.data) {
		p.pos = len(p.data)
		return buf, p.fail("unexpected end of input in a string, expected '\"'")
	}
	if p.data[p.pos+1] == 'u' {
		return p.unicode(buf)
	}
	if escaped[p.data[p.pos+1]] == 0 {
		return buf, p.fail("unknown escape, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
	}
	for p.pos+1 < len(p.data) && p.data[p.pos] == '\\' && escaped[p.data[p.pos+1]] != 0 {
		buf = append(buf, escaped[p.data[p.pos+1]])
		p.pos += 2
	}
	return buf, nil
}

// unicode decodes a \u escape, or two that are a surrogate pair.
func (p *parser) unicode(buf []byte) ([]byte, error) {
	r, ok := p.hex4(p.pos + 2)
	if !ok {
		return buf, p.fail("bad \\u escape, expected four hexadecimal digits")
	}
	p.pos += 6
	if utf16.IsSurrogate(r) && p.pos+1 < len(p.data) && p.data[p.pos] == '\\' && p.data[p.pos+1] == 'u' {
		if low, ok := p.hex4(p.pos + 2); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				p.pos += 6
				return utf8.AppendRune(buf, full), nil
			}
		}
	}
	return wtf8.Append(buf, r), nil
}

func (p *parser) hex4(at int) (rune, bool) {
	if at+4 > len(p.data) {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(p.data[at:at+4]), 16, 16)
	return rune(unit), err == nil
}
