package redact

import (
	"bytes"
	"slices"
)

// spans returns the parts of a text that the table would replace, sorted and without overlaps.
func (t *table) spans(text []byte, isJSON bool) []span {
	var spans []span
	for _, f := range t.findings(text, isJSON) {
		spans = append(spans, span{start: f.Start, end: f.End, print: f.Fingerprint})
	}
	spans = append(spans, t.occurrences(text, isJSON)...)
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	return joined(spans)
}

// A learned associates a text of one side with the placeholder that the other side has in its
// place.
type learned struct{ raw, placeholder, print string }

// join combines two redactions of one text: the result has a placeholder for each secret that
// either side replaced. It does not depend on the order of the sides. ok is false if the texts
// differ in anything but placeholders and secrets that the tables find.
func join(ours, theirs *table, a, b []byte, isJSON bool) (text []byte, pairs []learned, ok bool) {
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
				pairs = append(pairs, learned{string(a[i:end]), string(b[j : j+markB]), print})
				out = append(out, b[j:j+markB]...)
				i, j = end, j+markB
				continue
			}
			return nil, nil, false
		case markA > 0:
			if end, print := endOf(&inB, j); end > 0 {
				pairs = append(pairs, learned{string(b[j:end]), string(a[i : i+markA]), print})
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

// aligned returns the texts that the placeholders of b replace, if b equals a apart from the
// replaced texts. It does not check whether these are secrets, so it is only for redactions that
// the user accepts unchecked.
func aligned(a, b []byte) []learned {
	var pairs []learned
	mark := ""
	add := func(raw []byte) {
		if mark != "" && len(raw) > 0 {
			pairs = append(pairs, learned{raw: string(raw), placeholder: mark})
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
	x, _ := parsePlaceholder(string(a))
	y, _ := parsePlaceholder(string(b))
	if x.n < y.n || x.n == y.n && bytes.Compare(a, b) <= 0 {
		return a
	}
	return b
}
