package format

import (
	"fmt"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/syntax"
)

// NoUTF8 reports the first byte of a document that is not UTF-8, or nil. The formats are text, and
// such bytes become U+FFFD in values.
func NoUTF8(path string, data []byte) *syntax.Error {
	if utf8.Valid(data) {
		return nil
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	line, column := syntax.Position(data, at)
	return &syntax.Error{Path: path, Line: line, Column: column, Msg: fmt.Sprintf("byte 0x%02x is not UTF-8; it reads as U+FFFD", data[at])}
}

// MarkedJSON returns the report for a JSON document that begins with a byte order mark. RFC 8259,
// section 8.1, forbids it, and the programs that use these formats cannot read it.
func MarkedJSON(path string) *syntax.Error {
	return &syntax.Error{Path: path, Line: 1, Column: 1, Msg: `begins with a byte order mark, expected "{"; it is passed over`}
}
