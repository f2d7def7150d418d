package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxIdentifier is the largest number of bytes of an identifier whose parts are indexed.
const maxIdentifier = 256

// An analyzer prepares texts for SQLite's tokenizer unicode61. It divides them around Chinese, Japanese and Korean
// characters, because the tokenizer takes them for letters and a run of them for one long word. It composes characters
// that are written as several, as macOS does in file names. It also collects the parts of identifiers in camel case.
// Queries are prepared in the same way. The parts have a column of their own, because the identifier and its parts cannot
// have one position.
type analyzer struct {
	words []byte          // the prepared text
	parts []byte          // "get User By ID " for each different identifier, with a gap after it
	seen  map[string]bool // the identifiers of the message
}

// gap is a word between the parts of two identifiers, so that no phrase extends over both. It is a character for private
// use, which analyze leaves out of texts and queries.
const gap = '\uf5a7'

// reset removes what the analyzer has collected from the last message.
func (a *analyzer) reset() {
	a.parts, a.seen = a.parts[:0], map[string]bool{}
}

// query returns the text of a query, prepared.
func (a *analyzer) query(text string) string {
	a.reset()
	return string(a.analyze([]byte(text)))
}

// Classes of bytes.
const (
	separator = iota
	lower
	upper
	digit
	wide // not ASCII
)

func class(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return lower
	case c >= 'A' && c <= 'Z':
		return upper
	case c >= '0' && c <= '9':
		return digit
	case c >= utf8.RuneSelf:
		return wide
	}
	return separator
}

// analyze returns a text, prepared: with spaces where it is divided. It is valid until the next call.
func (a *analyzer) analyze(text []byte) []byte {
	a.words = a.words[:0]
	passed := 0               // the text before this position was passed
	start, camel := -1, false // the current word
	last := separator
	composed := false
	end := func(i int) {
		if camel {
			a.identifier(text[start:i])
		}
		start, camel, last = -1, false, separator
	}
	pass := func(i int) {
		if passed < i {
			if n := len(a.words); n > 0 && class(a.words[n-1]) != separator {
				a.words = append(a.words, ' ')
			}
			a.words = append(a.words, text[passed:i]...)
		}
		passed = i
	}
	for i := 0; i < len(text); {
		c, size := class(text[i]), 1
		if c == wide {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			switch {
			case !composed && (start >= 0 && composes(r) || isCJK(r) && characterEnd(text, i) > i+size):
				text, composed = compose(text[passed:]), true
				i, passed, start, camel, last = 0, 0, -1, false, separator
				continue
			case r == utf8.RuneError && size == 1, r == gap:
				end(i)
				pass(i)
				i += size
				passed = i
				continue
			case isCJK(r):
				end(i)
				pass(i)
				i += size
				pass(i)
				continue
			}
			c = wideClass(r)
		}
		switch {
		case c == separator:
			if start >= 0 {
				end(i)
			}
			i += size
			continue
		case start < 0:
			start = i
		case c == upper && last != upper || c == lower && last == upper && i-start > 1:
			camel = true
		}
		last = c
		i += size
	}
	end(len(text))
	pass(len(text))
	return a.words
}

// wideClass returns the class of a character that is not ASCII.
func wideClass(r rune) int {
	switch {
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		return lower
	case unicode.IsNumber(r):
		return digit
	}
	return separator
}

// identifier adds the parts of an identifier to those of the message, unless the message had it before.
func (a *analyzer) identifier(word []byte) {
	if len(word) > maxIdentifier || a.seen[string(word)] {
		return
	}
	before := len(a.parts)
	a.parts = appendParts(a.parts, word)
	if len(a.parts)-before == len(word)+1 { // a single part, such as "IDs"
		a.parts = a.parts[:before]
		return
	}
	a.seen[string(word)] = true
	a.parts = append(utf8.AppendRune(a.parts, gap), ' ')
}

// appendParts appends the parts of an identifier in camel case, each followed by a space. A part begins with a capital
// letter that follows another character, or that a small letter follows: HTTPServer consists of HTTP and Server. An s
// after capital letters belongs to them, as a plural.
func appendParts(dst, word []byte) []byte {
	last := separator
	for i := 0; i < len(word); {
		c, size := class(word[i]), 1
		if c == wide {
			var r rune
			r, size = utf8.DecodeRune(word[i:])
			c = wideClass(r)
		}
		if i > 0 && c == upper {
			next := separator
			if rest := word[i+size:]; len(rest) > 0 {
				if next = class(rest[0]); next == wide {
					r, _ := utf8.DecodeRune(rest)
					next = wideClass(r)
				}
				if rest[0] == 's' && (len(rest) == 1 || class(rest[1]) == upper) {
					next = separator
				}
			}
			if last != upper || next == lower {
				dst = append(dst, ' ')
			}
		}
		dst = append(dst, word[i:i+size]...)
		last = c
		i += size
	}
	return append(dst, ' ')
}

// isCJK reports whether a character belongs to a script that writes words without spaces, or in which people search for
// parts of words: Chinese, Japanese and Korean.
func isCJK(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x11FF, // Hangul Jamo
		r >= 0x2E80 && r <= 0x2FDF,   // radicals
		r >= 0x3005 && r <= 0x3007,   // iteration mark, closing mark, zero
		r >= 0x3021 && r <= 0x3029,   // Hangzhou numerals
		r >= 0x3031 && r <= 0x303C,   // kana repeat marks
		r >= 0x3041 && r <= 0x31FF,   // kana, Bopomofo, Hangul compatibility Jamo
		r >= 0x3400 && r <= 0x4DBF,   // Han, extension A
		r >= 0x4E00 && r <= 0x9FFF,   // Han
		r >= 0xA960 && r <= 0xA97F,   // Hangul Jamo, extended A
		r >= 0xAC00 && r <= 0xD7FF,   // Hangul syllables; Jamo, extended B
		r >= 0xF900 && r <= 0xFAFF,   // Han, compatibility
		r >= 0xFF66 && r <= 0xFFDC,   // half-width Katakana and Hangul
		r >= 0x1AFF0 && r <= 0x1B16F, // kana, extended and small
		r >= 0x20000 && r <= 0x3FFFF: // Han, extensions
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
	}
	return false
}

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
