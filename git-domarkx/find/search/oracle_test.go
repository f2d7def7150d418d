package search

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search/content"
)

// An Oracle is an index of texts in which the terms of a query are also looked for one by one.
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
	w := newWriter(db)
	for i, text := range texts {
		c := &content.Message{Prose: []byte(text[0]), Calls: []byte(text[1])}
		w.add([]byte{0, 0, 0, 0, 0, 0, byte(i >> 8), byte(i), 0}, c)
		if i%100 == 99 {
			w.flush()
		}
	}
	if w.flush(); db.err != nil {
		tb.Fatal(db.err)
	}
	return Oracle{&Index{db: db}}
}

// Find returns the messages that a query finds, in ascending order, and those that its terms find one by one.
func (o Oracle) Find(query string) (got, want []int64, err error) {
	groups, err := parseWords(query)
	if err != nil {
		return nil, nil, err
	}
	for _, message := range o.x.rank(groups, false) {
		got = append(got, int64(message))
	}
	wanted := map[int64]bool{}
	for _, g := range groups {
		matched := map[int64]int{}
		count := func(t term, is func(n int) int) {
			for s := range o.x.db.rows("SELECT rowid FROM words WHERE words MATCH ?", t.expression(&analyzer{})) {
				matched[s.Int(0)] = is(matched[s.Int(0)])
			}
		}
		for _, t := range g.want {
			count(t, func(n int) int { return n + 1 })
		}
		for _, t := range g.not {
			count(t, func(int) int { return 0 })
		}
		for message, n := range matched {
			if n == len(g.want) {
				wanted[message] = true
			}
		}
	}
	return got, slices.Sorted(maps.Keys(wanted)), o.x.db.failed()
}

// Expression parses a query and returns it in the syntax of FTS5.
func Expression(query string) (string, error) {
	groups, err := parseWords(query)
	if err != nil {
		return "", err
	}
	return expression(groups), nil
}
