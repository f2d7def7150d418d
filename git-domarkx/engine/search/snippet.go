package search

import (
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
					return token{i, i + size}, i + size
				}
				return token{start, i}, i
			}
			in = size > 1 && r != barrier && (isWordRune(r) || start >= 0 && unicode.IsMark(r))
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

// wordSpans returns the first matches of needles in a text.
func wordSpans(text []byte, needles []needle) []span {
	var spans []span
	for tok, at := nextToken(text, 0); tok.end > tok.start && len(spans) < maxSpans; tok, at = nextToken(text, at) {
		for i, n := range needles {
			if end := n.at(text, tok, at); end > 0 {
				spans = append(spans, span{tok.start, end, i})
				at = max(at, end)
				break
			}
			if start, end := n.within(text[tok.start:tok.end]); end > 0 {
				spans = append(spans, span{tok.start + start, tok.start + end, i})
				break
			}
		}
	}
	return spans
}

// at returns the end of the needle's match if one begins at a token, and otherwise 0.
func (n needle) at(text []byte, tok token, next int) int {
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
	for i := range min(len(word), len(want)) {
		c := word[i]
		if c >= utf8.RuneSelf {
			f := fold(word)
			return f == want || prefix && strings.HasPrefix(f, want)
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	if len(word) > len(want) && !prefix && word[len(want)] >= utf8.RuneSelf {
		return fold(word) == want // a combining accent may follow
	}
	return len(word) == len(want) || prefix && len(word) > len(want)
}

// within returns the place of the needle among the parts of an identifier. end is 0 if the identifier does not contain
// it.
func (n needle) within(word []byte) (start, end int) {
	if n.parts == nil || len(word) > maxIdentifier || !n.mayBeWithin(word) {
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

// mayBeWithin reports whether an identifier may contain the needle among its parts, or is not ASCII. It is a fast check
// before within.
func (n needle) mayBeWithin(word []byte) bool {
	capital := false
	for i, c := range word {
		if c >= utf8.RuneSelf {
			return true
		}
		capital = capital || i > 0 && c >= 'A' && c <= 'Z'
	}
	return capital && (literal{text: []byte(n.parts[0]), fold: true}).in(word)
}

// snippet returns one line of a text with some of its matches, and where these are in the line. width is the maximum
// number of characters.
func (m *matching) snippet(text []byte) (string, [][2]int) {
	spans := m.spans(text)
	first := bestSpan(spans, m.width)
	from := 0
	if len(spans) > 0 {
		from = back(text, spans[first].start, m.width/4)
	}
	var b strings.Builder
	var places [][2]int
	if from > 0 {
		b.WriteString("…")
	}
	n, next, open, space := 0, first, -1, true
	i := from
	for ; i < len(text) && n < m.width; n++ {
		for next < len(spans) && open < 0 && spans[next].start <= i {
			open = b.Len()
		}
		r, size := utf8.DecodeRune(text[i:])
		if unicode.IsSpace(r) || r == 0 {
			if !space {
				b.WriteByte(' ')
			} else {
				n--
			}
			space = true
		} else {
			b.WriteRune(r)
			space = false
		}
		i += size
		if open >= 0 && spans[next].end <= i {
			places = append(places, [2]int{open, b.Len()})
			open = -1
			for next < len(spans) && spans[next].start < i {
				next++
			}
		}
	}
	if open >= 0 && open < b.Len() {
		places = append(places, [2]int{open, b.Len()})
	}
	line := strings.TrimRight(b.String(), " ")
	if i < len(text) && strings.TrimSpace(string(text[i:min(len(text), i+64)])) != "" {
		line += "…"
	}
	return line, places
}

// bestSpan returns the match at which a snippet should begin: the one from which on the most different terms match
// within its width.
func bestSpan(spans []span, width int) int {
	best, most := 0, 0
	for i := range spans {
		seen := map[int]bool{}
		for j := i; j < len(spans) && spans[j].start-spans[i].start < width/2; j++ {
			seen[spans[j].needle] = true
		}
		if len(seen) > most {
			best, most = i, len(seen)
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
