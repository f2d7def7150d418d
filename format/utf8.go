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
