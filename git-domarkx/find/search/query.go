package search

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A term is a word or a phrase of a query.
type term struct {
	text   string
	phrase bool // whether it was in quotes
	prefix bool // whether a "*" followed it
}

// A group is an alternative of a query: terms that a message must contain, and terms that it must not contain.
type group struct{ want, not []term }

// maxTerms is the maximum number of terms in a query.
const maxTerms = 500

// parseWords parses a query by words. It consists of words, "phrases", prefix*, NOT before a word or phrase, and OR
// between alternatives. NOT binds more tightly than the space between words, and OR less.
func parseWords(query string) ([]group, error) {
	groups := []group{{}}
	not, terms := false, 0
	bad := func(format string, args ...any) ([]group, error) {
		return nil, fmt.Errorf("query %q: %w: "+format, append([]any{query, domarkx.ErrInvalid}, args...)...)
	}
	last := func() *group { return &groups[len(groups)-1] }
	for rest := strings.TrimSpace(query); rest != ""; rest = strings.TrimLeftFunc(rest, unicode.IsSpace) {
		var t term
		if rest[0] == '"' {
			text, after, closed := strings.Cut(rest[1:], `"`)
			if !closed {
				return bad("a quotation mark has no closing one")
			}
			t, rest = term{text: text, phrase: true}, after
			if after, ok := strings.CutPrefix(rest, "*"); ok {
				t.prefix, rest = true, after
			}
		} else {
			end := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
			if end < 0 {
				end = len(rest)
			}
			t, rest = term{text: rest[:end]}, rest[end:]
			switch t.text {
			case "AND":
				continue
			case "NOT":
				not = true
				continue
			case "OR":
				if not {
					return bad("NOT needs a word after it")
				}
				groups = append(groups, group{})
				continue
			}
			t.text, t.prefix = strings.CutSuffix(t.text, "*")
		}
		if terms++; terms > maxTerms {
			return bad("it has more than %d words", maxTerms)
		}
		if g := last(); not {
			g.not = append(g.not, t)
		} else if strings.IndexFunc(t.text, isWordRune) >= 0 {
			g.want = append(g.want, t)
		}
		not = false
	}
	if not {
		return bad("NOT needs a word after it")
	}
	for _, g := range groups {
		if len(g.want) == 0 && len(g.not) > 0 {
			return bad("it needs a word without NOT, too")
		}
		if len(g.want) == 0 {
			return bad("a word with at least one letter or digit is missing")
		}
	}
	return groups, nil
}

// isWordRune reports whether SQLite's tokenizer unicode61 takes a character for part of a word.
func isWordRune(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.Co)
}

// identifierParts returns the parts of an identifier, separated by spaces, or "" if a word is not an identifier of
// several parts.
func identifierParts(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		return ""
	}
	var parts []byte
	for piece := range strings.SplitSeq(word, "_") {
		if piece != "" {
			parts = appendParts(parts, []byte(piece))
		}
	}
	if joined := strings.TrimSpace(string(parts)); strings.Contains(joined, " ") {
		return joined
	}
	return ""
}
