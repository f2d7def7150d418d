package fanout_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

func newWriter(t *testing.T) *object.Writer {
	t.Helper()
	db, err := odb.Open(filepath.Join(gittest.Init(t), ".git"), "", oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	batch := db.Begin()
	t.Cleanup(batch.Abort)
	return object.NewWriter(object.NewReader(db), batch)
}

func TestLeafNames(t *testing.T) {
	for k, want := range map[int]string{
		0: "0000/00/00", 15: "0000/00/00", 16: "0000/00/01", 511: "0000/00/31", 512: "0000/01/00",
		16383: "0000/31/31", 16384: "0001/00/00", 99999: "0006/03/09", 16384 * 12345: "12345/00/00",
	} {
		names := fanout.LeafNames(fanout.Leaf(k))
		if got := strings.Join(names[:], "/"); got != want {
			t.Errorf("file %d is in %s, want %s", k, got, want)
		}
	}
}

func TestFileNames(t *testing.T) {
	for i := range fanout.LeafWidth {
		if got, ok := fanout.ParseFileName(fanout.FileName(i)); !ok || got != i {
			t.Errorf("%d became %d, %v", i, got, ok)
		}
	}
	for _, name := range []string{"", "1", "001", "-1", "0x", " 1", "1 ", "+1", "٠١"} {
		if i, ok := fanout.ParseFileName(name); ok {
			t.Errorf("%q was parsed as %d", name, i)
		}
	}
}

// number returns the content of file k of a test.
func number(k int) []byte { return fmt.Appendf(nil, "file %d", k) }

func write(t interface {
	Helper()
	Fatal(...any)
}, w *fanout.Writer, from, to int) {
	t.Helper()
	for k := from; k < to; k++ {
		if err := w.Add(domarkx.Blob{ID: odb.Sum(oid.SHA1, odb.Blob, number(k)).String()}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResume checks that a sequence that is written in several steps, from stored directories or from a
// clone, has the same tree as one that is written at once, and that each file is where FindLeaf says.
func TestResume(t *testing.T) {
	out := newWriter(t)
	edges := []int{0, 1, 15, 16, 17, 511, 512, 513, 16383, 16384, 16385}
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.OneOf(rapid.SampledFrom(edges), rapid.IntRange(0, 1200)).Draw(t, "count")
		part := rapid.OneOf(rapid.Just(count), rapid.IntRange(0, count)).Draw(t, "part")
		whole := fanout.NewWriter(out)
		write(t, &whole, 0, part)
		clone := whole.Clone()
		write(t, &whole, part, count)
		tree, err := whole.Finish()
		if err != nil || whole.Count() != count {
			t.Fatalf("%d files, %v", whole.Count(), err)
		}
		first, err := clone.Finish()
		if err != nil || clone.Count() != part {
			t.Fatalf("the clone has %d files, %v", clone.Count(), err)
		}
		if part > 0 {
			rest, err := fanout.Resume(out, first, part)
			if err != nil {
				t.Fatal(err)
			}
			write(t, &rest, part, count)
			if got, err := rest.Finish(); err != nil || got != tree {
				t.Errorf("%d files after %d: tree %s, %v; want %s", count, part, got, err, tree)
			}
			// The end of a longer sequence is dropped.
			if rest, err = fanout.Resume(out, tree, part); err != nil {
				t.Fatal(err)
			}
			if got, err := rest.Finish(); err != nil || got != first {
				t.Errorf("%d files of %d: tree %s, %v; want %s", part, count, got, err, first)
			}
		}
		if count == 0 {
			if !tree.IsZero() {
				t.Errorf("no files have the tree %s", tree)
			}
			return
		}
		k := rapid.IntRange(0, count-1).Draw(t, "k")
		id, err := fanout.FindLeaf(out.Reader, tree, k)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := out.Tree(id)
		if err != nil {
			t.Fatal(err)
		}
		b, err := object.File(leaf, fanout.FileName(k%fanout.LeafWidth))
		if err != nil || b.ID != odb.Sum(oid.SHA1, odb.Blob, number(k)).String() {
			t.Errorf("file %d of %d is %v, %v", k, count, b, err)
		}
	})
}

// TestMissing checks that a sequence that lacks a part is damaged, not shorter.
func TestMissing(t *testing.T) {
	out := newWriter(t)
	w := fanout.NewWriter(out)
	write(t, &w, 0, 600)
	tree, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	// without returns the tree below id without the entry at a path.
	var without func(id odb.ID, path []string) odb.ID
	without = func(id odb.ID, path []string) odb.ID {
		entries, err := out.Tree(id)
		if err != nil {
			t.Fatal(err)
		}
		var kept []odb.TreeEntry
		for _, e := range entries {
			if e.Name == path[0] {
				if len(path) == 1 {
					continue
				}
				e.ID = without(e.ID, path[1:])
			}
			kept = append(kept, e)
		}
		id, err = out.WriteTree(kept)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, c := range []struct {
		path   string
		k      int
		finds  bool // FindLeaf reads no files
		resume bool
	}{
		{"0000/00", 3, false, false},
		{"0000/00/02", 35, false, true}, // directories that are whole are not read
		{"0000/01/05", 599, false, false},
		{"0000/01/05/03", 599, true, false},
		{"0000/01/04", 590, false, false},
	} {
		t.Run(c.path, func(t *testing.T) {
			damaged := without(tree, strings.Split(c.path, "/"))
			if _, err := fanout.FindLeaf(out.Reader, damaged, c.k); (err == nil) != c.finds || err != nil && !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("file %d: %v", c.k, err)
			}
			if _, err := fanout.Resume(out, damaged, 600); (err == nil) != c.resume || err != nil && !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("resume: %v", err)
			}
		})
	}
	if _, err := fanout.Resume(out, tree, 700); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("more files than there are: %v", err)
	}
	if _, err := fanout.FindLeaf(out.Reader, odb.ID{}, 0); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("a sequence without files: %v", err)
	}
	if err := w.Add(domarkx.Blob{ID: "not an id"}); err == nil || w.Count() != 600 {
		t.Errorf("a file without an id was added: %d files, %v", w.Count(), err)
	}
}
