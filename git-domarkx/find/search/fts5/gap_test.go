package fts5_test

import (
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search/fts5"
)

// TestGap lets SQLite search for phrases in a column with a gap.
func TestGap(t *testing.T) {
	x := newIndex(t)
	x.exec("BEGIN")
	w, err := fts5.New(x.Conn, "w", 2)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	w.Begin(1)
	check(w.Column(0))
	if n, capitals := w.Plain([]byte("One two, getUser by")); n != len("One two, getUser") || capitals != len("getUser") {
		t.Errorf("%d bytes are plain, %d have capitals", n, capitals)
	}
	check(w.Column(1))
	check(w.Text([]byte("get User")))
	w.Gap()
	check(w.Text([]byte("by Größe")))
	check(w.End())
	check(w.Flush())
	check(w.Close())
	x.exec("COMMIT")
	x.open()
	x.exec("INSERT INTO w(w) VALUES('integrity-check')")
	for query, want := range map[string]int{`"one two"`: 1, `"get user"`: 1, `"by große"`: 1, `"user by"`: 0, `user by`: 1, `getuser`: 1} {
		if got := len(x.rows("SELECT rowid FROM w WHERE w MATCH ?", query)); got != want {
			t.Errorf("%s: found %d times", query, got)
		}
	}
}
