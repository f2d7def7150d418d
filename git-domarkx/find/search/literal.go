package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A literal is a text that each match of a regular expression contains, in this case or, if fold is set, in any case.
// With fold, the literal is ASCII without the letters k and s, which are also lower-case forms of characters beyond
// ASCII.
type literal struct {
	text []byte
	fold bool
}

// maxLiterals limits the number of alternative literals.
const maxLiterals = 16

// requiredLiterals returns literals such that each matching text contains at least one of them. It returns nil if it
// finds none.
func requiredLiterals(pattern string) []literal {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return literalsOf(re.Simplify())
}

func literalsOf(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []literal{{text: []byte(string(re.Rune))}}
		}
		if text := foldable(re.Rune); text != "" {
			return []literal{{text: []byte(text), fold: true}}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if l := literalsOf(sub); l != nil && shortest(l) > shortest(best) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			l := literalsOf(sub)
			if all = append(all, l...); l == nil || len(all) > maxLiterals {
				return nil
			}
		}
		return all
	}
	return nil
}

// foldable returns, in lower case, the longest part of a literal that consists of ASCII characters whose case is folded
// only among themselves.
func foldable(runes []rune) string {
	parts := strings.FieldsFunc(string(runes), func(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("KkSs", r) })
	best := ""
	for _, p := range parts {
		if len(p) > len(best) {
			best = p
		}
	}
	return strings.ToLower(best)
}

func shortest(literals []literal) int {
	if literals == nil {
		return 0
	}
	n := len(literals[0].text)
	for _, l := range literals {
		n = min(n, len(l.text))
	}
	return n
}

func (l literal) in(text []byte) bool {
	if !l.fold {
		return bytes.Contains(text, l.text)
	}
	at := rarest(l.text)
	low := l.text[at]
	high := low
	if low >= 'a' && low <= 'z' {
		high -= 'a' - 'A'
	}
	nextLow, nextHigh := -1, -1 // positions of the next occurrences; len(text) if there is none
	for i := 0; ; {
		if nextLow < i {
			nextLow = indexFrom(text, low, i)
		}
		if nextHigh < i {
			nextHigh = indexFrom(text, high, i)
		}
		i = min(nextLow, nextHigh)
		if i == len(text) {
			return false
		}
		if start := i - at; start >= 0 && start+len(l.text) <= len(text) && equalFold(text[start:start+len(l.text)], l.text) {
			return true
		}
		i++
	}
}

func indexFrom(text []byte, c byte, i int) int {
	if n := bytes.IndexByte(text[i:], c); n >= 0 {
		return i + n
	}
	return len(text)
}

// equalFold reports whether ASCII text equals lower, which is in lower case, if case is ignored.
func equalFold(text, low []byte) bool {
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != low[i] {
			return false
		}
	}
	return true
}

// rarest returns the index of the character that is rarest in English text and code.
func rarest(text []byte) int {
	const common = " etaoinsrhldcumfpgwybvkxjqz_.,-/0123456789" // the most frequent characters first
	best, at := -1, 0
	for i, c := range text {
		n := strings.IndexByte(common, c)
		if n < 0 {
			n = len(common)
		}
		if n > best {
			best, at = n, i
		}
	}
	return at
}
