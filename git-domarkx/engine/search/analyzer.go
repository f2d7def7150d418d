package search

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// barrier is a word that the analyzer puts between the parts of two identifiers, so that no phrase matches across them.
// It is a private-use character, which the tokenizer takes for a letter.
const barrier = '\uE000'

// maxIdentifier is the largest number of bytes of an identifier whose parts are indexed.
const maxIdentifier = 256

// An analyzer prepares texts for SQLite's tokenizer unicode61. It puts spaces around Chinese, Japanese and Korean
// characters, because the tokenizer takes them for letters and a run of them for one long word. It also collects the
// parts of identifiers in camel case. Queries are prepared in the same way.
type analyzer struct {
	parts []byte // "get User By ID \uE000 " for each different identifier
	seen  map[string]struct{}
}

func newAnalyzer() *analyzer { return &analyzer{seen: map[string]struct{}{}} }

// reset removes what the analyzer has collected from the last message.
func (a *analyzer) reset() {
	a.parts = a.parts[:0]
	clear(a.seen)
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

// analyze appends a prepared text to dst.
func (a *analyzer) analyze(dst, text []byte) []byte {
	copied := 0               // the text before this position is in dst
	start, camel := -1, false // the current word
	last := separator
	end := func(i int) {
		if camel {
			a.addParts(text[start:i])
		}
		start, camel, last = -1, false, separator
	}
	for i := 0; i < len(text); {
		if start < 0 {
			if i += plain(text[i:]); i == len(text) {
				break
			}
		}
		c, size := class(text[i]), 1
		if c == wide {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			switch {
			case r == utf8.RuneError && size == 1, r == barrier:
				end(i)
				dst = append(append(dst, text[copied:i]...), ' ')
				copied = i + size
				i += size
				continue
			case isCJK(r):
				end(i)
				dst = append(append(dst, text[copied:i]...), ' ')
				dst = append(append(dst, text[i:i+size]...), ' ')
				copied = i + size
				i += size
				continue
			}
			c = wideClass(r)
		} else if text[i] == 0 {
			dst = append(append(dst, text[copied:i]...), ' ')
			copied = i + 1
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
	dst = append(dst, text[copied:]...)
	return dst
}

// plain returns the number of bytes at the beginning of a text that need no preparation: words that have no parts, and
// the characters between them. The text must begin between words. plain reads eight bytes at once: its additions set
// the highest bit of each byte that is not less than a certain letter or digit.
func plain(text []byte) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	n, within := 0, uint64(0) // whether the byte before is in a word, as the highest bit
	for ; len(text)-n >= 8; n += 8 {
		b := binary.BigEndian.Uint64(text[n:])
		if (b|b-each)&high != 0 { // not ASCII, or zero
			break
		}
		capital := (b + (0x80-'A')*each) &^ (b + (0x7f-'Z')*each)
		small := (b + (0x80-'a')*each) &^ (b + (0x7f-'z')*each)
		digit := (b + (0x80-'0')*each) &^ (b + (0x7f-'9')*each)
		word := (capital | small | digit) & high
		if capital&(word>>8|within)&high != 0 {
			break
		}
		within = word << 56
	}
	for n > 0 && class(text[n-1]) != separator {
		n--
	}
	return n
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

// addParts adds the parts of an identifier to those of the message.
func (a *analyzer) addParts(word []byte) {
	if len(word) > maxIdentifier {
		return
	}
	if _, ok := a.seen[string(word)]; ok {
		return
	}
	before := len(a.parts)
	a.parts = appendParts(a.parts, word)
	if len(a.parts)-before == len(word)+1 { // a single part, such as "IDs"
		a.parts = a.parts[:before]
		return
	}
	a.seen[string(word)] = struct{}{}
	a.parts = append(utf8.AppendRune(a.parts, barrier), ' ')
}

// appendParts appends the parts of an identifier in camel case, each followed by a space. A part begins with a capital
// letter that follows another character, or that a small letter follows: HTTPServer consists of HTTP and Server. An s
// after capital letters belongs to them, as a plural.
func appendParts(dst, word []byte) []byte {
	last := separator
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		c := class(word[i])
		if c == wide {
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
