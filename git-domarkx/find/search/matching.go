package search

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A matching decides whether a text matches a query, and finds the matches in it.
type matching struct {
	groups  []group // for a query by words
	needles []needle
	fixed   []byte
	re      *regexp.Regexp
	filter  []literal // each text that matches contains one of these; empty if none are known
	width   int
}

// defaultWidth is the number of characters in a snippet for a query without a width.
const defaultWidth = 160

func newMatching(q Query) (*matching, error) {
	m := &matching{width: q.Width}
	if m.width <= 0 {
		m.width = defaultWidth
	}
	switch q.Kind {
	case Fixed:
		if q.Text == "" {
			return nil, fmt.Errorf("query: %w: expected the text to search for", domarkx.ErrInvalid)
		}
		m.fixed = []byte(q.Text)
		m.filter = []literal{{text: m.fixed}}
		return m, nil
	case Regexp:
		pattern := "(?m)" + q.Text // ^ and $ match at the ends of lines, as in grep
		_, err := regexp.Compile(q.Text)
		if err == nil {
			m.re, err = regexp.Compile(pattern)
		}
		if err != nil {
			return nil, fmt.Errorf("regular expression: %w: %w", domarkx.ErrInvalid, err)
		}
		if m.re.MatchString("") {
			return nil, fmt.Errorf("regular expression %q: %w: it matches the empty text, and so each message", q.Text, domarkx.ErrInvalid)
		}
		m.filter = requiredLiterals(pattern)
		return m, nil
	}
	var err error
	if m.groups, err = parseWords(string(compose([]byte(q.Text)))); err != nil {
		if q.Advice != "" {
			err = fmt.Errorf("%w; %s", err, q.Advice)
		}
		return nil, err
	}
	m.needles = needles(m.groups)
	return m, nil
}

// mayMatch reports whether one of the texts in a block may match.
func (m *matching) mayMatch(texts []byte) bool {
	return m.filter == nil || slices.ContainsFunc(m.filter, func(l literal) bool { return l.in(texts) })
}

// runs returns the runs of three bytes of each literal (see signature). A text that matches contains all runs of at
// least one literal. runs returns nil if nothing is known about the runs.
func (m *matching) runs() (all [][]uint32) {
	for _, l := range m.filter {
		if len(l.text) < runSize {
			return nil
		}
		all = append(all, runs(l.text))
	}
	return all
}

func (m *matching) match(text []byte) bool {
	return m.mayMatch(text) && (m.re == nil || m.re.Match(text))
}

// maxSpans is the number of matches in a text among which the place of a snippet is chosen.
const maxSpans = 100

// A span is a match: where it is in a text, and which term of the query matches.
type span struct{ start, end, needle int }

// spans appends the first matches in a text. Of a query with one word or phrase, it finds only the first one, because the snippet
// begins there; more may be after a position.
func (m *matching) spans(spans []span, text []byte) (_ []span, after int) {
	switch {
	case m.re != nil:
		for _, s := range m.re.FindAllIndex(text, maxSpans) {
			if s[0] < s[1] {
				spans = append(spans, span{s[0], s[1], 0})
			}
		}
	case m.fixed != nil:
		for at := 0; len(spans) < maxSpans; {
			i := bytes.Index(text[at:], m.fixed)
			if i < 0 {
				break
			}
			spans = append(spans, span{at + i, at + i + len(m.fixed), 0})
			at += i + len(m.fixed)
		}
	default:
		for after < len(text) && len(spans) < maxSpans && (len(spans) == 0 || len(m.needles) > 1) {
			after = m.word(&spans, text, after)
		}
		return spans, after
	}
	return spans, len(text)
}

// word appends the match of a needle that begins in the first token from a position on, if there is one, and returns the position
// after it.
func (m *matching) word(spans *[]span, text []byte, at int) (after int) {
	tok, after := nextToken(text, at)
	if tok.end == tok.start {
		return len(text)
	}
	for i := range m.needles {
		n := &m.needles[i]
		if end := n.at(text, tok, after); end > 0 {
			*spans = append(*spans, span{tok.start, end, i})
			return max(after, end)
		}
		if start, end := n.within(text[tok.start:tok.end]); end > 0 {
			*spans = append(*spans, span{tok.start + start, tok.start + end, i})
			return after
		}
	}
	return after
}
