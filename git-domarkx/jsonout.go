package main

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// escapeControls escapes the characters that could control a terminal and that JSON
// allows unescaped. In valid JSON, these occur only in strings.
func escapeControls(data []byte) []byte {
	if !bytes.ContainsFunc(data, unsafeInJSON) {
		return data
	}
	var escaped []byte
	for _, r := range string(data) {
		if unsafeInJSON(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = utf8.AppendRune(escaped, r)
		}
	}
	return escaped
}

// unsafeInJSON reports whether r is DEL, a C1 control or a character that reorders text.
// JSON encoders must escape all other control characters.
func unsafeInJSON(r rune) bool { return r >= 0x7f && unsafeOnTerminal(r) }
