// Package wtf8 keeps lone UTF-16 surrogates in strings, as generalized UTF-8
// (https://simonsapin.github.io/wtf-8/). JSON can contain them; valid UTF-8 cannot.
package wtf8

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Append appends a code point, which may be a lone surrogate.
func Append(buf []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(buf, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(buf, r)
}

// DecodeRune is [utf8.DecodeRuneInString], except that a lone surrogate is its own code point.
func DecodeRune(s string) (r rune, size int) {
	if len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return utf8.DecodeRuneInString(s)
}

// Units returns the UTF-16 code units of s.
func Units(s string) []uint16 {
	var units []uint16
	for len(s) > 0 {
		r, size := DecodeRune(s)
		if utf16.IsSurrogate(r) {
			units = append(units, uint16(r))
		} else {
			units = utf16.AppendRune(units, r)
		}
		s = s[size:]
	}
	return units
}
