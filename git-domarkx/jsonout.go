package main

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// escapeControls escapes in a JSON text the characters that JSON leaves as they are and
// that could control a terminal. They stand in strings only.
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

// unsafeInJSON reports DEL, the C1 controls and what reorders text: JSON has to escape
// other controls anyway.
func unsafeInJSON(r rune) bool { return r >= 0x7f && unsafeOnTerminal(r) }
