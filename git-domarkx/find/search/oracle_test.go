package search

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// An Oracle is an index of texts in which the same queries are run by SQLite.
type Oracle struct{ x *Index }

// NewOracle returns an index of messages with these texts, of prose and of calls.
func NewOracle(tb testing.TB, texts ...[2]string) Oracle {
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	db, err := createIndex(filepath.Join(dir, "search.db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.close() })
	w, err := newWriter(db)
	if err != nil {
		tb.Fatal(err)
	}
	for i, text := range texts {
		c := &content{prose: []byte(text[0]), calls: []byte(text[1])}
		if _, err := w.add([]byte{0, 0, 0, 0, 0, 0, byte(i >> 8), byte(i), 0}, c, 1); err != nil {
			tb.Fatal(err)
		}
		if i%100 == 99 {
			if err := w.flush(); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.flush(); err != nil {
		tb.Fatal(err)
	}
	if err := w.close(); err != nil {
		tb.Fatal(err)
	}
	return Oracle{&Index{db: db}}
}

// Find returns the messages that a query finds, in ascending order, and those that SQLite finds.
func (o Oracle) Find(query string) (got, want []int64, err error) {
	groups, err := parseWords(query)
	if err != nil {
		return nil, nil, err
	}
	all, err := o.x.rank(groups)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		got = append(got, int64(r.message))
	}
	err = o.x.db.query("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", func(s *sqlite3.Stmt) error {
		want = append(want, s.Int(0))
		return nil
	}, expression(groups))
	return got, want, err
}

// Expression parses a query and returns it in the syntax of FTS5.
func Expression(query string) (string, error) {
	groups, err := parseWords(query)
	if err != nil {
		return "", err
	}
	return expression(groups), nil
}

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

// expression returns the term in the syntax of FTS5 (see lister.list).
func (t term) expression(a *analyzer) string {
	star := ""
	if t.prefix {
		star = " *"
	}
	words := quote(string(a.query(t.text))) + star
	if t.phrase || strings.IndexFunc(t.text, func(r rune) bool { return isCJK(r) }) >= 0 {
		return "{prose calls} : " + words
	}
	if parts := identifierParts(t.text); parts != "" {
		return "(" + words + " OR parts : " + quote(parts) + star + ")"
	}
	return words
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
