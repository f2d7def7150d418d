package fts5_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/domarkx/domarkx/git-domarkx/find/search/fts5"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// An index has one table of words.
type index struct {
	t    testing.TB
	path string
	*sqlite3.Conn
}

func newIndex(t testing.TB) *index {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := &index{t: t, path: filepath.Join(dir, "index.db")}
	x.open()
	x.exec("CREATE VIRTUAL TABLE w USING fts5(a, b, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')")
	if err := fts5.Configure(x.Conn, "w"); err != nil {
		t.Fatal(err)
	}
	x.open()
	return x
}

// open opens the index as another process does.
func (x *index) open() {
	x.t.Helper()
	if x.Conn != nil {
		x.Close()
	}
	c, err := sqlite3.Open(x.path)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { c.Close() })
	x.Conn = c
}

func (x *index) exec(sql string, args ...any) {
	x.t.Helper()
	x.rows(sql, args...)
}

// rows returns the rows of a result as text.
func (x *index) rows(sql string, args ...any) []string {
	x.t.Helper()
	s, _, err := x.Prepare(sql)
	if err != nil {
		x.t.Fatalf("%s: %v", sql, err)
	}
	defer s.Close()
	for i, arg := range args {
		if err := s.Bind(i+1, arg); err != nil {
			x.t.Fatal(err)
		}
	}
	var rows []string
	for {
		more, err := s.Step()
		if err != nil {
			x.t.Fatalf("%s: %v", sql, err)
		}
		if !more {
			return rows
		}
		row := make([]any, len(s.Columns()))
		for i := range row {
			row[i] = s.Column(i)
		}
		rows = append(rows, fmt.Sprintf("%x", row))
	}
}

// insert adds rows as SQLite does, in one segment.
func (x *index) insert(first int, rows [][2]string) {
	x.t.Helper()
	x.exec("INSERT INTO w(w, rank) VALUES('hashsize', 100000000)")
	x.exec("BEGIN")
	for i, row := range rows {
		x.exec("INSERT INTO w(rowid, a, b) VALUES(?, ?, ?)", int64(first+i), row[0], row[1])
	}
	x.exec("COMMIT")
	x.open()
}

// write adds rows by a writer, in one segment.
func (x *index) write(first int, rows [][2]string) {
	x.t.Helper()
	x.exec("BEGIN")
	columns := make([][]byte, 0, 2*len(rows))
	for _, row := range rows {
		columns = append(columns, []byte(row[0]), []byte(row[1]))
	}
	x.add(first, columns)
	x.exec("COMMIT")
	x.open()
}

// add adds rows of two columns by a writer.
func (x *index) add(first int, columns [][]byte) {
	x.t.Helper()
	w, err := fts5.New(x.Conn, "w", 2)
	if err != nil {
		x.t.Fatal(err)
	}
	for i := 0; i < len(columns); i += 2 {
		if err := w.Add(int64(first+i/2), columns[i], columns[i+1]); err != nil {
			x.t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		x.t.Fatal(err)
	}
	if err := w.Merge(); err != nil {
		x.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		x.t.Fatal(err)
	}
}

// same compares what two indexes have stored.
func same(t *testing.T, got, want *index, tables ...string) {
	t.Helper()
	for _, table := range tables {
		a, b := got.rows("SELECT * FROM "+table), want.rows("SELECT * FROM "+table)
		if len(a) != len(b) {
			t.Errorf("%s has %d rows, that of SQLite %d", table, len(a), len(b))
		}
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("%s, row %d is\n%s, that of SQLite\n%s", table, i, a[i], b[i])
			}
		}
	}
}

// text returns random words. Some are in nearly each text, and some are long.
func text(random *rand.Rand, words int) string {
	var b strings.Builder
	for range random.IntN(words + 1) {
		switch n := random.IntN(20); {
		case n < 6:
			fmt.Fprintf(&b, "common%d ", n)
		case n == 6 && random.IntN(200) == 0:
			b.WriteString(strings.Repeat("long", 1+random.IntN(2000)) + ", ")
		case n == 7:
			b.WriteString([]string{"Größe ", "Straße. ", "ÉTÉ ", "naïve", "日 本 ", "e\u0301a ", "\u0301 ", "ﬁn ", "Ǆ ", "сервер ", "٣٤ ", "🙂 ", "a\u200db "}[random.IntN(13)])
		default:
			fmt.Fprintf(&b, "Word%x%s", random.IntN(1<<(2+random.IntN(16))), []string{" ", "-", "_", "\n"}[random.IntN(4)])
		}
	}
	return b.String()
}

func texts(random *rand.Rand, rows, words int) [][2]string {
	all := make([][2]string, rows)
	for i := range all {
		all[i] = [2]string{text(random, words), text(random, words/4)}
	}
	return all
}

// TestWritesWhatSQLiteWrites compares each stored byte. SQLite also stores indexes of the pages of long lists, and
// marks the words that have one.
func TestWritesWhatSQLiteWrites(t *testing.T) {
	for _, size := range []struct{ rows, words int }{{0, 0}, {1, 0}, {1, 3}, {3, 10}, {40, 3000}, {300, 100}, {2000, 40}} {
		random := rand.New(rand.NewPCG(uint64(size.rows), 7))
		rows := texts(random, size.rows, size.words)
		got, want := newIndex(t), newIndex(t)
		got.write(1, rows)
		want.insert(1, rows)
		const pages = "(SELECT * FROM w_data WHERE id > 10 AND (id >> 36) & 1 = 0)"
		const terms = "(SELECT segid, term, pgno >> 1 FROM w_idx)"
		same(t, got, want, pages, terms, "w_docsize")
		if len(want.rows("SELECT 1 FROM w_idx WHERE pgno & 1")) == 0 {
			const records = "(SELECT id, CASE id WHEN 10 THEN substr(block, 5) ELSE block END FROM w_data WHERE id <= 10)"
			same(t, got, want, records)
		}
	}
}

// TestSQLiteReadsAndMerges lets SQLite check, search, delete in and merge a written index.
func TestSQLiteReadsAndMerges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	got, want := newIndex(t), newIndex(t)
	first := 1
	for range 40 {
		rows := texts(random, 1+random.IntN(60), 60)
		got.write(first, rows)
		want.insert(first, rows)
		first += len(rows) + random.IntN(3)
	}
	check := func() {
		t.Helper()
		got.exec("INSERT INTO w(w) VALUES('integrity-check')")
		for _, query := range []string{"common0", "common1 common2", `"common3 common4"`, `"common3 common4 common5"`, "word1*", "a : grosse", "strasse OR ete",
			"common0 NOT common1", "b : common2", "NEAR(common1 common5, 3)", `"日 本"`, "longlonglonglong", "сервер", "absent"} {
			sql := fmt.Sprintf("SELECT rowid, bm25(w, 2.0, 1.0) FROM w WHERE w MATCH '%s' ORDER BY rowid", query)
			if a, b := got.rows(sql), want.rows(sql); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("%s: found %d, expected %d:\n%.300q\n%.300q", query, len(a), len(b), a, b)
			}
		}
	}
	check()
	for _, sql := range []string{"DELETE FROM w WHERE rowid % 7 = 3", "INSERT INTO w(w, rank) VALUES('merge', 200)"} {
		got.exec(sql)
		want.exec(sql)
		check()
	}
	got.open()
	got.write(first, texts(rand.New(rand.NewPCG(1, 1)), 20, 60))
	want.insert(first, texts(rand.New(rand.NewPCG(1, 1)), 20, 60))
	check()
	got.exec("INSERT INTO w(w) VALUES('optimize')")
	check()
}

// TestSmallSegmentsAreMerged adds many rows one by one.
func TestSmallSegmentsAreMerged(t *testing.T) {
	x := newIndex(t)
	for i := range 300 {
		x.write(i+1, [][2]string{{fmt.Sprintf("all row%d", i), ""}})
	}
	if n := len(x.rows("SELECT DISTINCT segid FROM w_idx")); n > 32 {
		t.Errorf("300 rows that were added one by one have %d segments", n)
	}
	if n := len(x.rows("SELECT rowid FROM w WHERE w MATCH 'all'")); n != 300 {
		t.Errorf("found %d rows of 300", n)
	}
}

// TestTokenizer compares the words of each character of Unicode, in a word and alone, with those of SQLite.
func TestTokenizer(t *testing.T) {
	var rows [][2]string
	var b strings.Builder
	for r := rune(1); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || r > 0x1ffff && r&0xff != 0 { // of planes of ideographs, a few are enough
			continue
		}
		if testing.Short() && r > 0x7ff && r%61 != 0 {
			continue
		}
		fmt.Fprintf(&b, "q%[1]cQ %[1]c a%[1]c ", r)
		if b.Len() > 8000 {
			rows = append(rows, [2]string{b.String(), ""})
			b.Reset()
		}
	}
	rows = append(rows, [2]string{b.String(), ""})
	got, want := newIndex(t), newIndex(t)
	got.write(1, rows)
	want.insert(1, rows)
	for _, x := range []*index{got, want} {
		x.exec("CREATE VIRTUAL TABLE v USING fts5vocab(w, row)")
	}
	same(t, got, want, "v", "w_docsize")
}

func FuzzTokenizer(f *testing.F) {
	f.Add("getUserByID größe 日本 \U0001F642 e\u0301 \u0301")
	f.Fuzz(func(t *testing.T, text string) {
		if text = strings.ToValidUTF8(text, " "); bytes.ContainsRune([]byte(text), 0) || len(text) > 10000 {
			t.Skip("not a prepared text")
		}
		got, want := newIndex(t), newIndex(t)
		got.write(1, [][2]string{{text, ""}})
		want.insert(1, [][2]string{{text, ""}})
		same(t, got, want, "(SELECT * FROM w_data WHERE id <> 10)", "w_idx", "w_docsize")
	})
}
