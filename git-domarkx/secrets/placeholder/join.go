package placeholder

import (
	"bytes"
	"slices"
)

// spans returns the parts of a text that the table would replace, sorted and without overlaps.
func (t *Table) spans(text []byte, isJSON bool) []span {
	spans := append(t.found(text, isJSON), t.occurrences(text, isJSON)...)
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	return joined(spans)
}

// found returns the spans that rules find.
func (t *Table) found(text []byte, isJSON bool) (spans []span) {
	for _, f := range t.findings(text, isJSON) {
		spans = append(spans, span{start: f.Start, end: f.End, print: f.Fingerprint})
	}
	return spans
}

// A Pair is a text of one side with the placeholder that the other side has in its place.
type Pair struct{ raw, placeholder, print string }

// Join combines two redactions of one text: the result has a placeholder for each secret that
// either side replaced. It does not depend on the order of the sides. ok is false if the texts
// differ in anything but placeholders and secrets that the tables find.
func Join(ours, theirs *Table, a, b []byte, isJSON bool) (text []byte, pairs []Pair, ok bool) {
	if bytes.Equal(a, b) {
		return a, nil, true
	}
	inA, inB := ours.spans(a, isJSON), theirs.spans(b, isJSON)
	var out []byte
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		markA, markB := markAt(a, i), markAt(b, j)
		switch {
		case markA > 0 && markB > 0:
			out = append(out, lesser(a[i:i+markA], b[j:j+markB])...)
			i, j = i+markA, j+markB
			continue
		case markB > 0:
			if end, print := endOf(&inA, i); end > 0 {
				pairs = append(pairs, Pair{string(a[i:end]), string(b[j : j+markB]), print})
				out = append(out, b[j:j+markB]...)
				i, j = end, j+markB
				continue
			}
			return nil, nil, false
		case markA > 0:
			if end, print := endOf(&inB, j); end > 0 {
				pairs = append(pairs, Pair{string(b[j:end]), string(a[i : i+markA]), print})
				out = append(out, a[i:i+markA]...)
				i, j = i+markA, end
				continue
			}
			return nil, nil, false
		case i == len(a) || j == len(b) || a[i] != b[j]:
			return nil, nil, false
		}
		out = append(out, a[i])
		i, j = i+1, j+1
	}
	return out, pairs, true
}

// Aligned returns the texts that the placeholders of b replace, if b equals a apart from the
// replaced texts. It does not check whether these are secrets, so it is only for redactions that
// the user accepts unchecked.
func Aligned(a, b []byte) []Pair {
	var pairs []Pair
	mark := ""
	add := func(raw []byte) {
		if mark != "" && len(raw) > 0 {
			pairs = append(pairs, Pair{raw: string(raw), placeholder: mark})
		}
	}
	at := 0
	for _, m := range append(placeholders().FindAllIndex(b, -1), []int{len(b), len(b)}) {
		between := b[at:m[0]]
		i := bytes.Index(a, between)
		switch {
		case m[0] == len(b): // the text after the last placeholder
			if !bytes.HasSuffix(a, between) {
				return nil
			}
			i = len(a) - len(between)
		case i < 0 || mark == "" && i > 0 || mark != "" && len(between) == 0: // the limit between adjacent placeholders is unknown
			return nil
		}
		add(a[:i])
		a, at, mark = a[i+len(between):], m[1], string(b[m[0]:m[1]])
	}
	return pairs
}

// markAt returns the length in bytes of the placeholder that begins at offset at; 0 if there is
// none.
func markAt(text []byte, at int) int {
	if at >= len(text) || text[at] != '[' {
		return 0
	}
	const longest = len("[REDACTED::]") + 100 + 9
	if m := placeholders().FindIndex(text[at:min(len(text), at+longest)]); m != nil && m[0] == 0 {
		return m[1]
	}
	return 0
}

// endOf returns the end and the fingerprint of the span that begins at offset at, and removes the
// spans before it. The end is 0 if the span does not exist.
func endOf(spans *[]span, at int) (int, string) {
	for len(*spans) > 0 && (*spans)[0].start < at {
		*spans = (*spans)[1:]
	}
	if len(*spans) > 0 && (*spans)[0].start == at {
		return (*spans)[0].end, (*spans)[0].print
	}
	return 0, ""
}

// lesser returns the placeholder with the smaller number; if the numbers are equal, the one that
// sorts first.
func lesser(a, b []byte) []byte {
	x, _ := Parse(string(a))
	y, _ := Parse(string(b))
	if x.Number < y.Number || x.Number == y.Number && bytes.Compare(a, b) <= 0 {
		return a
	}
	return b
}

// Learn compares a document with stored, the redacted form of its beginning, and adopts the numbers
// of the secrets that stored replaces. It stops where the two differ in anything else.
func (t *Table) Learn(stored, document []byte) {
	spans := t.found(document, true)
	for i, j := 0, 0; i < len(document) && j < len(stored); {
		mark := markAt(stored, j)
		if mark == 0 || bytes.HasPrefix(document[i:], stored[j:j+mark]) {
			if document[i] != stored[j] {
				return
			}
			i, j = i+1, j+1
			continue
		}
		placeholder := string(stored[j : j+mark])
		end, print := endOf(&spans, i)
		if end == 0 {
			if end = t.spelled(document[i:], placeholder); end == 0 {
				return
			}
			i, j = i+end, j+mark
			continue
		}
		t.Adopt(Pair{string(document[i:end]), placeholder, print})
		i, j = end, j+mark
	}
}

// spelled returns the length in bytes of the secret at the beginning of a text that a placeholder
// stands for; 0 if the text begins with something else.
func (t *Table) spelled(text []byte, placeholder string) int {
	for _, form := range t.literals() {
		if t.forms[form] == placeholder && bytes.HasPrefix(text, []byte(form)) {
			return len(form)
		}
	}
	return 0
}
