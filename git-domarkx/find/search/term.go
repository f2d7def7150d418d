package search

import "strings"

// expression returns a query in the syntax of FTS5.
func expression(groups []group) string {
	a := &analyzer{}
	join := func(terms []term, operator string) string {
		all := make([]string, len(terms))
		for i, t := range terms {
			all[i] = t.expression(a)
		}
		return "(" + strings.Join(all, operator) + ")"
	}
	alternatives := make([]string, len(groups))
	for i, g := range groups {
		alternatives[i] = join(g.want, " AND ")
		if len(g.not) > 0 {
			alternatives[i] = "(" + alternatives[i] + " NOT " + join(g.not, " OR ") + ")"
		}
	}
	return strings.Join(alternatives, " OR ")
}

// expression returns the term in the syntax of FTS5. It looks for a word as it is, and for an identifier also among the
// parts of others: getUser is in getUserByID.
func (t term) expression(a *analyzer) string {
	star := ""
	if t.prefix {
		star = " *"
	}
	words := quote(a.query(t.text)) + star
	if t.phrase || strings.ContainsFunc(t.text, isCJK) {
		return "{prose calls} : " + words
	}
	if parts := identifierParts(t.text); parts != "" {
		return "(" + words + " OR parts : " + quote(parts) + star + ")"
	}
	return words
}

// quote returns a string in the syntax of FTS5, which ends at a zero byte.
func quote(s string) string {
	return `"` + strings.NewReplacer(`"`, `""`, "\x00", " ").Replace(s) + `"`
}
