package search

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// composes reports whether a character may form one with the character before it: an accent, a mark of voiced kana, or a
// vowel or final consonant of a Korean syllable. The tokenizer knows the accents of Latin letters only.
func composes(r rune) bool {
	return r >= 0x300 && (r <= 0x36F || r >= 0x1161 && r <= 0x1175 || r >= 0x11A8 && r <= 0x11C2 || r == 0x3099 || r == 0x309A)
}

// characterEnd returns the end of the character at a position and of those after it that may form one with it.
func characterEnd(text []byte, i int) int {
	_, size := utf8.DecodeRune(text[i:])
	for i += size; i < len(text) && text[i] >= utf8.RuneSelf; i += size {
		var r rune
		if r, size = utf8.DecodeRune(text[i:]); !composes(r) {
			break
		}
	}
	return i
}

// compose returns a text in which characters that are written as several are written as one if Unicode has it. It does
// not replace other characters, as a normal form of Unicode would.
func compose(text []byte) []byte {
	composed := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRune(text[i:])
		end := characterEnd(text, i)
		if end > i+size {
			composed = norm.NFC.Append(composed, text[i:end]...)
		} else {
			composed = append(composed, text[i:end]...)
		}
		i = end
	}
	return composed
}
