package format

import (
	"fmt"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
)

// NoUTF8 reports the first byte of a document that is no UTF-8, as formats must be
// that are text; nil when there is none. Values have U+FFFD for such bytes.
func NoUTF8(path string, data []byte) *domarkx.SyntaxError {
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
	line, column := domarkx.Position(data, at)
	return &domarkx.SyntaxError{Path: path, Line: line, Column: column, Msg: fmt.Sprintf("byte 0x%02x is no UTF-8; it reads as U+FFFD", data[at])}
}

// MarkedJSON reports that a document begins with a byte order mark. The programs whose
// formats are JSON find none behind it (RFC 8259, section 8.1, forbids it).
func MarkedJSON(path string) *domarkx.SyntaxError {
	return &domarkx.SyntaxError{Path: path, Line: 1, Column: 1, Msg: `begins with a byte order mark, expected "{"; it is passed over`}
}
