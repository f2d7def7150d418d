package search

import (
	"slices"
	"strings"
)

// Analyze returns the indexed forms of a text: the text as prepared, and the parts of its identifiers.
func Analyze(text string) (words, parts string) {
	a := &analyzer{}
	words = a.query(text)
	return words, string(a.parts)
}

// Gap is the word between the parts of two identifiers.
const Gap = gap

// MayMatch reports whether the filter of a regular expression lets a text pass, and whether there is one.
func MayMatch(pattern, text string) (may, filtered bool) {
	m := &matching{filter: requiredLiterals("(?m)" + pattern)}
	return m.mayMatch([]byte(text)), m.filter != nil
}

// EncodeBlock encodes the texts of successive messages.
func EncodeBlock(first int64, texts ...string) []byte {
	var b block
	for i, text := range texts {
		b.add(first+int64(i), []byte(text))
	}
	var c compressor
	return c.encode(&b)
}

// DecodeBlock returns the texts of a block.
func DecodeBlock(data []byte) ([]string, error) {
	var d decompressor
	var b block
	if err := d.decode(data, &b); err != nil {
		return nil, err
	}
	var texts []string
	at := 0
	for _, size := range b.sizes {
		texts = append(texts, string(b.texts[at:at+size]))
		at += size
	}
	return texts, nil
}

// DecodeLeaf returns the number of messages of a leaf.
func DecodeLeaf(data []byte) (int, error) {
	entries, err := decodeLeaf(data)
	return len(entries), err
}

// Folds reports whether a word is found by a folded one, at once and by folding it first.
func Folds(word, want string, prefix bool) (at, first bool) {
	f := fold([]byte(word))
	return folds([]byte(word), want, prefix), f == want || prefix && strings.HasPrefix(f, want)
}

// Within reports whether an identifier of a query may be in a word, and whether it is in its parts.
func Within(word, query string) (may, is bool) {
	n := needles([]group{{want: []term{{text: query}}}})[0]
	parts := strings.Fields(strings.ToLower(string(appendParts(nil, []byte(word)))))
	is = len(parts) > 1 && strings.Contains(" "+strings.Join(parts, " ")+" ", " "+strings.Join(n.parts, " ")+" ")
	return n.mayBeWithin([]byte(word)), is
}

// Best returns the messages with the highest n scores, whose numbers are their indexes, and all in order.
func Best(scores []float32, n int) (chosen, sorted []int64) {
	var all []ranking
	for i, s := range scores {
		all = append(all, ranking{message: uint32(i), score: s})
	}
	for _, r := range best(all, n) {
		chosen = append(chosen, int64(r.message))
	}
	slices.SortFunc(all, compareRankings)
	for _, r := range all {
		sorted = append(sorted, int64(r.message))
	}
	return chosen, sorted
}

// Signature returns whether the signature of a text says that it may have a part.
func Signature(text []byte) func(part []byte) bool {
	s := sign(text)
	return func(part []byte) bool { return s.has(runs(part)) }
}

// Sign makes the signature of a text.
func Sign(text []byte) { sign(text) }
