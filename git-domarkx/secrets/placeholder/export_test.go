package placeholder

// JoinText is Join for texts.
func JoinText(ours, theirs *Table, a, b string) (string, bool) {
	text, _, ok := Join(ours, theirs, []byte(a), []byte(b), false)
	return string(text), ok
}

// AlignedText is Aligned for texts.
func AlignedText(a, b string) map[string]string {
	all := map[string]string{}
	for _, p := range Aligned([]byte(a), []byte(b)) {
		all[p.placeholder] = p.raw
	}
	return all
}

// Spellings is spellings.
func Spellings(raw string) []string { return spellings(raw) }
