package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
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
	return len(slices.MinFunc(literals, func(a, b literal) int { return len(a.text) - len(b.text) }).text)
}

func (l literal) in(text []byte) bool {
	if l.fold {
		text = bytes.Clone(text)
		for i, c := range text {
			if c >= 'A' && c <= 'Z' {
				text[i] += 'a' - 'A'
			}
		}
	}
	return bytes.Contains(text, l.text)
}
