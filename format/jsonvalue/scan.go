package jsonvalue

import (
	"bytes"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/wtf8"
)

// Words in which all bytes are the same: the lowest bit, the highest bit, or a character to find.
const (
	lowBits     = 0x0101010101010101
	highBits    = 0x80 * lowBits
	blanks      = 0x20 * lowBits
	quotes      = '"' * lowBits
	backslashes = '\\' * lowBits
)

// special returns a word whose lowest set bit is in the first byte of x that must be escaped in a
// JSON string: a quote, backslash or control character. It returns 0 if x has none.
func special(x uint64) uint64 {
	// A subtraction that borrows sets the highest bit of its byte. Non-ASCII bytes had that bit set
	// before, so they are masked.
	quote, backslash := x^quotes, x^backslashes
	return ((quote - lowBits) | (backslash - lowBits) | (x - blanks)) &^ x & highBits
}

func isSpecial(c byte) bool { return c < 0x20 || c == '"' || c == '\\' }

// plainRun returns the length of the prefix of s that contains no byte to escape, and whether that
// prefix is ASCII.
func plainRun[T string | []byte](s T) (n int, ascii bool) {
	seen := uint64(0)
	for ; n+8 <= len(s); n += 8 {
		b := s[n : n+8]
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		if found := special(x); found != 0 {
			bit := bits.TrailingZeros64(found) // the highest bit of its byte
			seen |= x & (1<<bit - 1)
			return n + bit/8, seen&highBits == 0
		}
		seen |= x
	}
	for n < len(s) && !isSpecial(s[n]) {
		seen |= uint64(s[n])
		n++
	}
	return n, seen&highBits == 0
}

// validUTF8 returns data with each byte that is not UTF-8 replaced by U+FFFD.
func validUTF8(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	return bytes.Map(func(r rune) rune { return r }, data)
}

const hexDigits = "0123456789abcdef"

// appendWTF8Run appends a string without special bytes as JSON: a lone surrogate as its escape, and
// U+FFFD for each other byte that is not UTF-8.
func appendWTF8Run(dst []byte, s string) []byte {
	for s != "" {
		r, size := wtf8.DecodeRune(s)
		if utf16.IsSurrogate(r) {
			dst = fmt.Appendf(dst, `\u%04x`, r)
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		s = s[size:]
	}
	return dst
}
