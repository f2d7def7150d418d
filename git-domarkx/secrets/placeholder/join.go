package placeholder

import (
	"bytes"
	"slices"
)

// spans returns the parts of a text that the table would replace, sorted and without overlaps.
func (t *Table) spans(text []byte, isJSON bool) []span {
	var spans []span
	for _, f := range t.findings(text, isJSON) {
		spans = append(spans, span{start: f.Start, end: f.End, print: f.Fingerprint})
	}
	spans = append(spans, t.occurrences(text, isJSON)...)
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	return joined(spans)
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
	text, ok = align(ours, theirs, a, b, isJSON, func(p Pair) { pairs = append(pairs, p) })
	if !ok {
		return nil, nil, false
	}
	return text, pairs, true
}

// Learn compares a document with stored, the redacted form of its beginning, and adopts the numbers
// of the secrets that stored replaces. It stops where the two differ in anything else.
func (t *Table) Learn(stored, document []byte) {
	align(t, New(nil, nil), document, stored, true, t.Adopt)
}

// align calls found for each secret that only one side replaced, up to where the texts differ in anything else.
func align(ours, theirs *Table, a, b []byte, isJSON bool, found func(Pair)) (text []byte, ok bool) {
	inA, inB := ours.spans(a, isJSON), theirs.spans(b, isJSON)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		markA, markB := markAt(a, i), markAt(b, j)
		switch {
		case markA > 0 && markB > 0:
			text = append(text, lesser(a[i:i+markA], b[j:j+markB])...)
			i, j = i+markA, j+markB
		case markB > 0:
			end, print := ours.endOf(&inA, a, i, b[j:j+markB])
			if end == 0 {
				return nil, false
			}
			found(Pair{string(a[i:end]), string(b[j : j+markB]), print})
			text = append(text, b[j:j+markB]...)
			i, j = end, j+markB
		case markA > 0:
			end, print := theirs.endOf(&inB, b, j, a[i:i+markA])
			if end == 0 {
				return nil, false
			}
			found(Pair{string(b[j:end]), string(a[i : i+markA]), print})
			text = append(text, a[i:i+markA]...)
			i, j = i+markA, end
		case i == len(a) || j == len(b) || a[i] != b[j]:
			return nil, false
		default:
			text = append(text, a[i])
			i, j = i+1, j+1
		}
	}
	return text, true
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

// endOf returns the end and the fingerprint of the span that begins at offset at, or else the end of the secret there that a
// placeholder stands for. It removes the spans that precede it. The end is 0 if neither is there.
func (t *Table) endOf(spans *[]span, text []byte, at int, placeholder []byte) (int, string) {
	for len(*spans) > 0 && (*spans)[0].start < at {
		*spans = (*spans)[1:]
	}
	if len(*spans) > 0 && (*spans)[0].start == at {
		return (*spans)[0].end, (*spans)[0].print
	}
	for _, form := range t.literals() {
		if t.forms[form] == string(placeholder) && bytes.HasPrefix(text[at:], []byte(form)) {
			return at + len(form), ""
		}
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
