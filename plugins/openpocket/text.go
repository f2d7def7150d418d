package openpocket

import (
	"strings"
	"unicode/utf16"
)

// firstUnits returns the first n UTF-16 units of a text and whether the text is longer. A
// surrogate pair that is cut becomes U+FFFD.
func firstUnits(s string, n int) (string, bool) {
	units := 0
	for i, r := range s {
		size := max(1, utf16.RuneLen(r))
		switch {
		case units == n:
			return s[:i], true
		case units+size > n:
			return s[:i] + "\ufffd", true
		}
		units += size
	}
	return s, false
}

// isSpace reports whether JavaScript's \s and trim treat a character as white space
// (ECMA-262, WhiteSpace and LineTerminator).
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', '\u00a0', '\u1680', '\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\ufeff':
		return true
	}
	return r >= '\u2000' && r <= '\u200a'
}

// compact replaces each run of white space by one blank and trims the text.
func compact(s string) string { return strings.Join(strings.FieldsFunc(s, isSpace), " ") }

// safeName returns an app's name as a part of a file name.
func safeName(app string) string {
	var b strings.Builder
	gap := false
	for _, r := range app {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			b.WriteRune(r)
			gap = false
		case !gap:
			b.WriteByte('_')
			gap = true
		}
	}
	name := b.String()
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 48)]
}
