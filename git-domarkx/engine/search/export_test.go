package search

// Expression parses a query and returns it in the syntax of FTS5.
func Expression(query string) (string, error) {
	groups, err := parseWords(query)
	if err != nil {
		return "", err
	}
	return expression(groups), nil
}

// Analyze returns the indexed forms of a text: the text as prepared, and the parts of its identifiers.
func Analyze(text string) (words, parts string) {
	a := newAnalyzer()
	words = string(a.analyze([]byte(text)))
	return words, string(a.parts)
}

// MayMatch reports whether the filter of a regular expression lets a text pass, and whether there is one.
func MayMatch(pattern, text string) (may, filtered bool) {
	m := &matching{filter: requiredLiterals("(?m)" + pattern)}
	return m.mayMatch([]byte(text)), m.filter != nil
}
