package fts5

import (
	"maps"
	"unicode/utf8"
)

// maxWord is the size at which SQLite cuts words.
const maxWord = 32768

// A tokenizer splits text into words as unicode61 does: words are runs of letters, numbers and
// private characters, without case and diacritics. What that means for a character beyond ASCII is asked of
// SQLite, once.
type tokenizer struct {
	ascii  [utf8.RuneSelf]byte // in lower case; 0 for separators
	others map[rune]character
	oracle *oracle
	word   []byte
}

// A character is what the tokenizer makes of one.
type character struct {
	inside bool // it belongs to a word that it is in
	starts bool // words can begin with it
	text   string
}

func newTokenizer() *tokenizer {
	t := &tokenizer{others: map[rune]character{}}
	for c := range t.ascii {
		switch {
		case c >= 'A' && c <= 'Z':
			t.ascii[c] = byte(c) + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
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

// tokenize calls each with the words of a valid text. They are valid until it returns.
func (t *tokenizer) tokenize(text []byte, each func(word []byte)) error {
	word, within := t.word[:0], false
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			if low := t.ascii[c]; low != 0 {
				word, within = append(word, low), true
				continue
			}
		} else {
			r, size := utf8.DecodeRune(text[i:])
			i += size
			ch, err := t.character(r)
			if err != nil {
				return err
			}
			if ch.starts || within && ch.inside {
				word, within = append(word, ch.text...), true
				continue
			}
		}
		if within {
			each(word[:min(len(word), maxWord)])
			word, within = word[:0], false
		}
	}
	if within {
		each(word[:min(len(word), maxWord)])
	}
	t.word = word
	return nil
}

// character returns what SQLite makes of a character.
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
