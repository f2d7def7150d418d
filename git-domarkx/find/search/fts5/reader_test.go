package fts5_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search/fts5"
)

// instances returns where words are, as "row column position", as SQLite sees it.
func (x *index) instances() map[string][]string {
	x.t.Helper()
	x.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.seen USING fts5vocab('main', 'w', 'instance')")
	s, _, err := x.Prepare("SELECT term, doc, col, offset FROM temp.seen")
	if err != nil {
		x.t.Fatal(err)
	}
	defer s.Close()
	all := map[string][]string{}
	for {
		more, err := s.Step()
		if err != nil {
			x.t.Fatal(err)
		}
		if !more {
			return all
		}
		word := s.Column(0).(string)
		all[word] = append(all[word], fmt.Sprintf("%d %c %d", s.Int(1), 'a'+strings.Index("ab", s.Column(2).(string)), s.Int(3)))
	}
}

func describe(row int64, at fts5.Positions) (all []string) {
	for _, p := range at.Append(nil) {
		all = append(all, fmt.Sprintf("%d %c %d", row, 'a'+p.Column(), uint32(p)))
	}
	return all
}

// checkReader compares the lists that a reader returns, of each word and some prefixes, with those of SQLite.
func (x *index) checkReader(what string) {
	x.t.Helper()
	want := x.instances()
	r, err := fts5.NewReader(x.Conn, "w")
	if err != nil {
		x.t.Fatal(err)
	}
	defer r.Close()
	words := append(slices.Sorted(maps.Keys(want)), "absent", "", "zzzzzz", "w")
	for _, word := range words {
		c, err := r.Word([]byte(word))
		if err != nil {
			x.t.Fatalf("%s: %q: %v", what, word, err)
		}
		var got []string
		for last := int64(-1); ; last = c.Row {
			more, err := c.Next()
			if err != nil {
				x.t.Fatalf("%s: %q: %v", what, word, err)
			}
			if !more {
				break
			}
			if c.Row <= last {
				x.t.Fatalf("%s: %q: row %d comes after row %d", what, word, c.Row, last)
			}
			some := describe(c.Row, c.Positions)
			weight := float32(0)
			for _, p := range c.Positions.Append(nil) {
				weight += [2]float32{1, 0.5}[p.Column()]
			}
			if got := c.Positions.Weight(&[fts5.MaxColumns]float32{1, 0.5}); got != weight || len(some) == 0 {
				x.t.Fatalf("%s: %q in row %d: weight %g, expected %g of %v", what, word, c.Row, got, weight, some)
			}
			got = append(got, some...)
		}
		if !slices.Equal(got, want[word]) {
			x.t.Fatalf("%s: %.40q is at %.300v, expected %.300v", what, word, got, want[word])
		}
	}
	for _, prefix := range []string{"", "w", "word1", "common", "long", "longlonglong", "gr", "日", "absent"} {
		var all []string
		for _, word := range words {
			if strings.HasPrefix(word, prefix) {
				all = append(all, want[word]...)
			}
		}
		var got []string
		if err := r.Prefix([]byte(prefix), func(row int64, at fts5.Positions) { got = append(got, describe(row, at)...) }); err != nil {
			x.t.Fatalf("%s: %q*: %v", what, prefix, err)
		}
		slices.Sort(all)
		slices.Sort(got)
		if !slices.Equal(got, all) {
			x.t.Fatalf("%s: %q* is at %d places, expected %d", what, prefix, len(got), len(all))
		}
	}
}

// TestReader reads segments that SQLite and writers wrote, while and after they are merged.
func TestReader(t *testing.T) {
	sizes := []struct{ segments, rows, words int }{{0, 0, 0}, {1, 1, 0}, {1, 1, 3}, {1, 3, 5000}, {1, 1500, 30}, {6, 200, 60}, {20, 20, 100}}
	if testing.Short() {
		sizes = []struct{ segments, rows, words int }{{0, 0, 0}, {1, 1, 0}, {1, 1, 3}, {1, 1, 3000}, {1, 400, 10}, {6, 20, 30}, {20, 4, 20}}
	}
	for _, size := range sizes {
		random := rand.New(rand.NewPCG(uint64(size.rows), 9))
		x := newIndex(t)
		first := 1
		for i := range size.segments {
			rows := texts(random, size.rows, size.words)
			if i%3 == 2 {
				x.insert(first, rows)
			} else {
				x.write(first, rows)
			}
			first += len(rows) + random.IntN(200)
		}
		what := fmt.Sprint(size)
		x.checkReader(what)
		x.exec("INSERT INTO w(w, rank) VALUES('usermerge', 2)")
		x.exec("INSERT INTO w(w, rank) VALUES('merge', -8)") // merges a part, so words of a row are in two segments
		x.open()
		x.checkReader(what + ", while merging")
		x.exec("INSERT INTO w(w) VALUES('optimize')")
		x.open()
		x.checkReader(what + ", merged")
	}
}

// TestReaderOfDamage reads indexes with pages of noise. It must return an error or something, and end.
func TestReaderOfDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	x := newIndex(t)
	x.write(1, texts(random, 300, 60))
	pages := x.rows("SELECT id FROM w_data WHERE id > 10")
	found := 0
	x.Conn.WriteShadowTables()
	for range 150 {
		x.exec("SAVEPOINT whole")
		s, _, err := x.Prepare("SELECT id, block FROM w_data ORDER BY id LIMIT 1 OFFSET ?")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Bind(1, int64(1+random.IntN(len(pages)+1))); err != nil { // not the totals
			t.Fatal(err)
		}
		if more, err := s.Step(); err != nil || !more {
			t.Fatal(more, err)
		}
		id, page := s.Int(0), s.AppendBytes(nil, 1)
		s.Close()
		for range 1 + random.IntN(10) {
			page[random.IntN(len(page))] = byte(random.Uint32())
		}
		page = page[:len(page)-random.IntN(2)*random.IntN(len(page))]
		x.exec("UPDATE w_data SET block = ? WHERE id = ?", page, id)
		if err := readAll(x); errors.Is(err, fts5.ErrDamaged) {
			found++
		} else if err != nil {
			t.Fatal(err)
		}
		x.exec("ROLLBACK TO whole")
		x.exec("RELEASE whole")
	}
	if found < 30 {
		t.Errorf("%d of 150 damages were noticed", found)
	}
}

func readAll(x *index) error {
	r, err := fts5.NewReader(x.Conn, "w")
	if err != nil {
		return err
	}
	defer r.Close()
	for _, word := range []string{"common0", "common1", "word1"} {
		c, err := r.Word([]byte(word))
		for more := true; more && err == nil; {
			more, err = c.Next()
		}
		if err != nil {
			return err
		}
	}
	return r.Prefix(nil, func(int64, fts5.Positions) {})
}

// TestWords compares the words of a text with those that an index has of it.
func TestWords(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 9))
	for range 20 {
		text := text(random, 30)
		x := newIndex(t)
		x.write(1, [][2]string{{text, ""}})
		r, err := fts5.NewReader(x.Conn, "w")
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Words([]byte(text))
		if err = errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		x.exec("CREATE VIRTUAL TABLE seen USING fts5vocab(w, instance)")
		want := x.rows("SELECT term FROM seen ORDER BY offset")
		var hex []string
		for _, word := range got {
			hex = append(hex, fmt.Sprintf("%x", []any{word}))
		}
		if !slices.Equal(hex, want) || bytes.ContainsRune([]byte(strings.Join(got, "")), ' ') {
			t.Fatalf("%q has %q", text, got)
		}
	}
}
