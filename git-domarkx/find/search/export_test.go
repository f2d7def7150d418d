package search

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
	return b.encode()
}

// DecodeBlock returns the texts of a block.
func DecodeBlock(data []byte) ([]string, error) {
	var b block
	if err := b.decode(data); err != nil {
		return nil, err
	}
	var texts []string
	for _, text := range b.messages() {
		texts = append(texts, string(text))
	}
	return texts, nil
}

// DecodeLeaf returns the number of messages of a leaf.
func DecodeLeaf(data []byte) (int, error) {
	entries, err := decodeLeaf(data)
	return len(entries), err
}

// Signature returns whether the signature of a text says that it may have a part.
func Signature(text []byte) func(part []byte) bool {
	s := sign(text)
	return func(part []byte) bool { return s.has(runs(part)) }
}

// Sign makes the signature of a text.
func Sign(text []byte) { sign(text) }
