package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A needle is a term of a query: words that follow each other in a text.
type needle struct {
	words  []string // the words, folded
	parts  []string // the words as parts of one identifier; nil if they cannot be
	prefix bool
}

// needles returns the terms that the alternatives of a query want.
func needles(groups []group) []needle {
	var all []needle
	for _, g := range groups {
		for _, t := range g.want {
			n := needle{prefix: t.prefix}
			text := []byte(t.text)
			for tok, at := nextToken(text, 0); tok.end > tok.start; tok, at = nextToken(text, at) {
				n.words = append(n.words, fold(text[tok.start:tok.end]))
			}
			if !t.phrase {
				n.parts = n.words
				if parts := identifierParts(t.text); parts != "" {
					n.parts = nil
					for part := range strings.FieldsSeq(parts) {
						n.parts = append(n.parts, fold([]byte(part)))
					}
				}
			}
			if len(n.words) > 0 {
				all = append(all, n)
			}
		}
	}
	return all
}

// A token is a word of a text as SQLite's tokenizer unicode61 sees it, after an analyzer has prepared the text.
type token struct{ start, end int }

// nextToken returns the first token from position i on, and the position after it. The token is empty at the end of the
// text.
func nextToken(text []byte, at int) (token, int) {
	start := -1
	for i := at; i < len(text); {
		r, size := rune(text[i]), 1
		in := false
		if r < utf8.RuneSelf {
			in = class(text[i]) != separator
		} else {
			r, size = utf8.DecodeRune(text[i:])
			if isCJK(r) {
				if start < 0 {
					end := characterEnd(text, i)
					return token{i, end}, end
				}
				return token{start, i}, i
			}
			in = size > 1 && (isWordRune(r) || start >= 0 && unicode.IsMark(r))
		}
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			return token{start, i}, i
		}
		i += size
	}
	if start < 0 {
		start = len(text)
	}
	return token{start, len(text)}, len(text)
}

// fold returns a word in lower case and without diacritics.
func fold(word []byte) string {
	ascii := true
	for _, c := range word {
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(string(word))
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(string(word)))
}

// at returns the end of the needle's match if one begins at a token, and otherwise 0.
func (n *needle) at(text []byte, tok token, next int) int {
	for i, want := range n.words {
		if i > 0 {
			if tok, next = nextToken(text, next); tok.end == tok.start {
				return 0
			}
		}
		if !folds(text[tok.start:tok.end], want, n.prefix && i == len(n.words)-1) {
			return 0
		}
	}
	return tok.end
}

// folds reports whether a word, when it is folded, equals another word, or begins with it if prefix is set.
func folds(word []byte, want string, prefix bool) bool {
	if c := word[0]; c < utf8.RuneSelf && c|0x20 != want[0]|0x20 {
		return false
	}
	f := fold(word)
	return f == want || prefix && strings.HasPrefix(f, want)
}

// within returns the place of the needle among the parts of an identifier. end is 0 if the identifier does not contain
// it.
func (n *needle) within(word []byte) (start, end int) {
	if n.parts == nil || len(word) > maxIdentifier || !mayHaveParts(word) {
		return 0, 0
	}
	parts := strings.Fields(string(appendParts(nil, word)))
	at := 0
	for i := 0; i+len(n.parts) <= len(parts) && len(parts) > 1; i++ {
		end, same := at, true
		for j, want := range n.parts {
			part := fold([]byte(parts[i+j]))
			same = same && (part == want || n.prefix && j == len(n.parts)-1 && strings.HasPrefix(part, want))
			end += len(parts[i+j])
		}
		if same {
			return at, end
		}
		at += len(parts[i])
	}
	return 0, 0
}

// mayHaveParts reports whether an identifier may consist of several parts. It is a fast check before they are made.
func mayHaveParts(word []byte) bool {
	for i, c := range word {
		if c >= utf8.RuneSelf || i > 0 && c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}

// snippets makes the snippets of texts for a query. Only one goroutine at a time may use it.
type snippets struct {
	m       *matching
	spans   []span   // the first matches of the text
	seen    []int    // by needle: number, from 1, of the last match for which best has counted it
	line    []byte   // snippet of the text
	matches [][2]int // start and end of each match, as byte offsets in line
}

// make sets line to the snippet of a text, one line of it with some of its matches, and matches to where these are in
// the line.
func (s *snippets) make(text []byte) {
	var after int
	s.spans, after = s.m.spans(s.spans[:0], text)
	first := s.best()
	from := 0
	if len(s.spans) > 0 {
		from = back(text, s.spans[first].start, s.m.width/4)
	}
	s.line, s.matches = s.line[:0], s.matches[:0]
	if from > 0 {
		s.line = append(s.line, "…"...)
	}
	n, next, open, space := 0, first, -1, true
	i := from
	for ; i < len(text) && n < s.m.width; n++ {
		for after < len(text) && len(s.spans) < maxSpans && s.spans[len(s.spans)-1].start <= i {
			after = s.m.word(&s.spans, text, after)
		}
		for next < len(s.spans) && open < 0 && s.spans[next].start <= i {
			open = len(s.line)
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if unicode.IsSpace(r) || r == 0 {
			if !space {
				s.line = append(s.line, ' ')
			} else {
				n--
			}
			space = true
		} else {
			s.line = utf8.AppendRune(s.line, r)
			space = false
		}
		i += size
		if open >= 0 && s.spans[next].end <= i {
			s.matches = append(s.matches, [2]int{open, len(s.line)})
			open = -1
			for next < len(s.spans) && s.spans[next].start < i {
				next++
			}
		}
	}
	if open >= 0 && open < len(s.line) {
		s.matches = append(s.matches, [2]int{open, len(s.line)})
	}
	s.line = bytes.TrimRight(s.line, " ")
	if i < len(text) && len(bytes.TrimSpace(text[i:min(len(text), i+64)])) > 0 {
		s.line = append(s.line, "…"...)
	}
}

// best returns the match at which a snippet should begin: the one from which on the most different terms match within
// half the snippet's width.
func (s *snippets) best() int {
	if len(s.m.needles) < 2 {
		return 0
	}
	s.seen = slices.Grow(s.seen[:0], len(s.m.needles))[:len(s.m.needles)]
	clear(s.seen)
	best, most := 0, 0
	for i := range s.spans {
		terms := 0
		for j := i; j < len(s.spans) && s.spans[j].start-s.spans[i].start < s.m.width/2; j++ {
			if seen := &s.seen[s.spans[j].needle]; *seen <= i {
				*seen = i + 1
				terms++
			}
		}
		if terms > most {
			best, most = i, terms
		}
	}
	return best
}

// back returns a position that is at most n characters before another one, at the beginning of a word if there is one.
func back(text []byte, at, n int) int {
	word := -1
	i := at
	for ; i > 0 && n > 0; n-- {
		r, size := utf8.DecodeLastRune(text[:i])
		if unicode.IsSpace(r) {
			word = i
		}
		i -= size
	}
	if i == 0 || word < 0 {
		return i
	}
	return word
}
