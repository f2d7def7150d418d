package sqlite3_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// table opens a database with an empty table, and an inserter of its rows.
func table(t *testing.T) (*sqlite3.Conn, *sqlite3.Inserter) {
	t.Helper()
	conn, err := sqlite3.Open(filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, value)"); err != nil {
		t.Fatal(err)
	}
	inserter, err := conn.NewInserter("INSERT INTO t(id, value)", 2)
	if err != nil {
		t.Fatal(err)
	}
	return conn, inserter
}

// rows returns the rows of the table as text.
func rows(t *testing.T, conn *sqlite3.Conn) (all []string) {
	t.Helper()
	s, _, err := conn.Prepare("SELECT id, value FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		more, err := s.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return all
		}
		all = append(all, fmt.Sprintf("%d %#v", s.Column(0), s.Column(1)))
	}
}

// TestInserter adds fewer rows than one statement inserts, as many, and more.
func TestInserter(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 64, 70} {
		conn, inserter := table(t)
		blob := make([]byte, 1000)
		var want []string
		for k := range n {
			for i := range blob {
				blob[i] = byte(k)
			}
			value := []any{nil, "text\x00", blob, blob[:k], 1.5}[k%5]
			want = append(want, fmt.Sprintf("%d %#v", k, value))
			if err := inserter.Add(int64(k), value); err != nil {
				t.Fatal(err)
			}
		}
		if got := rows(t, conn); len(got) != n-n%32 {
			t.Errorf("%d rows of %d are there before Flush", len(got), n)
		}
		for range 2 { // the second time, there is nothing to insert
			if err := inserter.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, rows(t, conn)); diff != "" {
			t.Errorf("%d rows (-want +got):\n%s", n, diff)
		}
		if err := inserter.Add(int64(n), "forgotten"); err != nil {
			t.Fatal(err)
		}
		if err := inserter.Close(); err != nil {
			t.Fatal(err)
		}
		if got := rows(t, conn); len(got) != n {
			t.Errorf("Close left %d rows, expected %d", len(got), n)
		}
	}
}

// TestInserterFails checks that the rows that were added with a wrong one are forgotten: no later call inserts
// a row a second time.
func TestInserterFails(t *testing.T) {
	for n, want := range map[int][]string{3: {`0 "row"`, `9 "later"`}, 32: {`9 "later"`}} {
		conn, inserter := table(t)
		var failed error
		for k := range n {
			id := int64(k)
			if k == 1 {
				id = 0 // which is there already
			}
			if err := inserter.Add(id, "row"); err != nil {
				failed = err
			}
		}
		if err := inserter.Flush(); (err != nil) == (failed != nil) {
			t.Errorf("%d rows: Add said %v, and Flush %v", n, failed, err)
		}
		if err := inserter.Add(int64(9), "later"); err != nil {
			t.Fatal(err)
		}
		if err := inserter.Flush(); err != nil {
			t.Errorf("%d rows: after the failure: %v", n, err)
		}
		if diff := cmp.Diff(want, rows(t, conn)); diff != "" {
			t.Errorf("%d rows (-want +got):\n%s", n, diff)
		}
		if err := inserter.Close(); err != nil {
			t.Error(err)
		}
	}
}
