package fts5

import (
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"unicode/utf8"
)

// maxWord is the size in bytes at which SQLite cuts words off.
const maxWord = 32768

// A tokenizer splits text into words as SQLite's unicode61 does: a word is a run of letters, numbers and private-use
// characters, in lower case and without diacritics. For each character that is not ASCII, it asks SQLite once what that
// means.
type tokenizer struct {
	ascii  [256]byte // the ASCII letters and digits, in lower case
	others map[rune]character
	oracle *oracle
	word   []byte
}

// separator is the entry of an ASCII character that no word contains.
const separator = 0

// A character describes how the tokenizer treats a character.
type character struct {
	inside bool // whether it continues a word
	starts bool // whether a word can begin with it
	text   string
}

func newTokenizer() *tokenizer {
	t := &tokenizer{others: map[rune]character{}}
	for c := range t.ascii {
		switch {
		case c >= 'A' && c <= 'Z':
			t.ascii[c] = byte(c) + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= utf8.RuneSelf:
			t.ascii[c] = byte(c)
		}
	}
	return t
}

func (t *tokenizer) close() error {
	if t.oracle == nil {
		return nil
	}
	return t.oracle.close()
}

// tokenize adds the words of a text, which is valid UTF-8, to postings.
func (t *tokenizer) tokenize(text []byte, to *postings) error {
	for i := 0; ; {
		n, capitals := t.plain(text[i:], to)
		if i += n; i == len(text) {
			return nil
		}
		if capitals > 0 {
			continue
		}
		var err error
		if i, err = t.anyWord(text, i, to); err != nil { // it is long, or not ASCII
			return err
		}
	}
}

// plain adds the words at the beginning of a text, up to the first one with a capital letter after its first letter. It
// stops before a word that is long or not ASCII. It returns the number of bytes up to there, and the size of the word
// with capitals, which is 0 if there is none.
func (t *tokenizer) plain(text []byte, to *postings) (n, capitals int) {
	for i := 0; i < len(text); {
		if t.ascii[text[i]] == separator {
			i++
			continue
		}
		start := i
		var k1, k2 uint64 // local copies, which the compiler keeps in registers
		k0, capital, n := lowerWord(text[i:])
		capital &= math.MaxUint64 >> 8 // without the first letter
		if i += n; n == 8 {
			var more uint64
			k1, more, n = lowerWord(text[i:])
			capital |= more
			if i += n; n == 8 {
				k2, more, n = lowerWord(text[i:])
				capital |= more
				i += n
			}
		}
		if n == 8 || i < len(text) && text[i] >= utf8.RuneSelf {
			return start, 0
		}
		to.add(k0, k1, k2)
		if capital != 0 {
			return i, i - start
		}
	}
	return len(text), 0
}

// lowerWord returns how many bytes at the beginning of a text, at most eight, are ASCII letters and digits. word
// contains them in lower case in its highest bytes, and zeros below; capitals has the highest bit of each byte that is a
// capital letter. lowerWord reads all eight bytes at once: its additions set the highest bit of each byte that is not less
// than a certain letter or digit.
func lowerWord(text []byte) (word, capitals uint64, n int) {
	const each, high = 0x0101010101010101, 0x8080808080808080
	if len(text) >= 8 {
		word = binary.BigEndian.Uint64(text)
	} else {
		var padded [8]byte
		copy(padded[:], text)
		word = binary.BigEndian.Uint64(padded[:])
	}
	ascii := ^word & high
	b := word &^ high
	capital := (b + (0x80-'A')*each) &^ (b + (0x7f-'Z')*each) & ascii
	word |= capital >> 7 * ('a' - 'A')
	b = word &^ high
	letter := (b + (0x80-'a')*each) &^ (b + (0x7f-'z')*each)
	digit := (b + (0x80-'0')*each) &^ (b + (0x7f-'9')*each)
	n = bits.LeadingZeros64((letter|digit)&ascii^high) / 8
	behind := uint64(math.MaxUint64 >> (8 * n))
	return word &^ behind, capital &^ behind, n
}

// anyWord adds the word at a position, if there is one, and returns the position after it. It works for words of any
// length and any characters.
func (t *tokenizer) anyWord(text []byte, i int, to *postings) (int, error) {
	word := t.word[:0]
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if i++; t.ascii[c] == separator {
				break
			}
			word = append(word, t.ascii[c])
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		ch, err := t.character(r)
		if err != nil {
			return 0, err
		}
		if !ch.starts && (len(word) == 0 || !ch.inside) {
			break
		}
		word = append(word, ch.text...)
	}
	if len(word) > 0 {
		k := to.words.key(word[:min(len(word), maxWord)])
		to.add(k[0], k[1], k[2])
	}
	t.word = word
	return i, nil
}

// character returns how SQLite's tokenizer treats a character.
func (t *tokenizer) character(r rune) (character, error) {
	if c, ok := t.others[r]; ok {
		return c, nil
	}
	if t.oracle == nil {
		var err error
		if t.oracle, err = newOracle(); err != nil {
			return character{}, err
		}
	}
	all, err := t.oracle.ask(r)
	maps.Copy(t.others, all)
	return all[r], err
}
