package database_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// result returns a result with n rows of a text, and how many rows it accepted.
func result(t *testing.T, n int, text string) (domarkx.Result, int) {
	t.Helper()
	dir := t.TempDir()
	rows, err := database.NewRows([]string{"a", "b\xff"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for range n {
		more, err := rows.Add([]jsonvalue.Value{database.Value(text), database.Value(int64(accepted))})
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		accepted++
	}
	if accepted < n {
		if more, err := rows.Add(nil); more || err != nil {
			t.Errorf("a row after the last: accepted %v, %v", more, err)
		}
	}
	r, err := rows.Result("changed", 1)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("files are left: %v, %v", left, err)
	}
	return r, accepted
}

func TestShortResult(t *testing.T) {
	for n, want := range map[int]string{
		0: `{"changed":1,"columns":["a",{"base64":"Yv8="}],"rows":[]}`,
		2: `{"changed":1,"columns":["a",{"base64":"Yv8="}],"rows":[["x",0],["x",1]]}`,
	} {
		rows, err := database.NewRows([]string{"a", "b\xff"}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if more, err := rows.Add([]jsonvalue.Value{database.Value("x"), database.Value(int64(i))}); !more || err != nil {
				t.Errorf("row %d: accepted %v, %v", i, more, err)
			}
		}
		r, err := rows.Result("changed", 1)
		if err != nil || r.Value.JSON() != want || r.Attachment != nil {
			t.Errorf("%d rows: %s, %v, %v", n, r.Value.JSON(), r.Attachment, err)
		}
	}
}

// TestLongResult checks that the attachment has the rows that a result omits.
func TestLongResult(t *testing.T) {
	r, accepted := result(t, 50, strings.Repeat("x", 100<<10))
	if accepted != 50 || r.Attachment == nil {
		t.Fatalf("%d rows, attachment %v", accepted, r.Attachment)
	}
	whole, err := io.ReadAll(r.Attachment)
	if cerr := r.Attachment.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	all, _ := jsonvalue.MustParse(string(whole)).Get("rows")
	shown, _ := r.Value.Get("rows")
	if len(all.Items()) != 50 || len(shown.Items()) < 5 || len(shown.Items()) > 11 {
		t.Errorf("%d rows attached, %d in the result", len(all.Items()), len(shown.Items()))
	}
	for i, row := range shown.Items() {
		if row.JSON() != all.Items()[i].JSON() {
			t.Errorf("row %d differs", i)
		}
	}
	truncated, _ := r.Value.Get("truncated")
	size, _ := r.Value.Get("bytes")
	if !truncated.IsTrue() || size.Text() != strconv.Itoa(len(whole)) {
		t.Errorf("truncated %s, %s bytes of %d", truncated.JSON(), size.Text(), len(whole))
	}
	if _, ok := r.Value.Get("incomplete"); ok {
		t.Error("incomplete")
	}
	if n := len(r.Value.JSON()); n > toolresult.Limit+1000 {
		t.Errorf("the result has %d bytes", n)
	}
}

// TestEndlessResult checks that a result accepts no more rows than the limit of its attachment.
func TestEndlessResult(t *testing.T) {
	const row = 4 << 20
	r, accepted := result(t, 1000, strings.Repeat("x", row))
	defer r.Attachment.Close()
	n, err := io.Copy(io.Discard, r.Attachment)
	if err != nil || n > database.MaxBytes+10 || n < database.MaxBytes-2*row || accepted != int(n)/row {
		t.Errorf("%d rows, %d bytes, %v", accepted, n, err)
	}
	if incomplete, _ := r.Value.Get("incomplete"); !incomplete.IsTrue() {
		t.Errorf("%.200s", r.Value.JSON())
	}
}

func TestDiscardedResult(t *testing.T) {
	dir := t.TempDir()
	rows, err := database.NewRows(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Add([]jsonvalue.Value{database.Value(strings.Repeat("x", 2<<20))}); err != nil {
		t.Fatal(err)
	}
	if err := rows.Discard(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestResultWithoutSpace(t *testing.T) {
	rows, err := database.NewRows(nil, filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Add([]jsonvalue.Value{database.Value(strings.Repeat("x", 2<<20))}); err == nil {
		t.Error("a row was accepted that cannot be stored")
	}
}
