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
	db, err := odb.Open(filepath.Join(gittest.Init(t), ".git")+"/objects", oid.SHA1)
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

// leafOf stores leaf i of a test, which has one file.
func leafOf(t interface {
	Helper()
	Fatal(...any)
}, out *object.Writer, i int) odb.ID {
	t.Helper()
	file := odb.Sum(oid.SHA1, odb.Blob, fmt.Appendf(nil, "leaf %d", i))
	id, err := out.WriteTree([]odb.TreeEntry{{Mode: odb.ModeFile, Name: "file", ID: file}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// write appends the leaves from one to another of a test.
func write(t interface {
	Helper()
	Fatal(...any)
}, out *object.Writer, w *fanout.Writer, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := w.Add(leafOf(t, out, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResume checks that a sequence that is written in several steps, from stored directories or from a
// clone, has the same tree as one that is written at once, and that each leaf is where FindLeaf says.
func TestResume(t *testing.T) {
	out := newWriter(t)
	edges := []int{0, 1, 2, 31, 32, 33, 1023, 1024, 1025}
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.OneOf(rapid.SampledFrom(edges), rapid.IntRange(0, 1200)).Draw(t, "count")
		part := rapid.OneOf(rapid.Just(count), rapid.IntRange(0, count)).Draw(t, "part")
		whole := fanout.NewWriter(oid.SHA1, out.Write)
		write(t, out, &whole, 0, part)
		clone := whole.Clone()
		write(t, out, &whole, part, count)
		tree, err := whole.Finish()
		if err != nil {
			t.Fatal(err)
		}
		first, err := clone.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if part > 0 {
			rest := fanout.NewWriter(oid.SHA1, out.Write)
			if err := rest.Resume(out.Reader, "top", first, part*fanout.LeafWidth, part); err != nil {
				t.Fatal(err)
			}
			write(t, out, &rest, part, count)
			if got, err := rest.Finish(); err != nil || got != tree {
				t.Errorf("%d leaves after %d: tree %s, %v; want %s", count, part, got, err, tree)
			}
			// The end of a longer sequence is dropped.
			rest = fanout.NewWriter(oid.SHA1, out.Write)
			if err := rest.Resume(out.Reader, "top", tree, count*fanout.LeafWidth-3, part); err != nil {
				t.Fatal(err)
			}
			if got, err := rest.Finish(); err != nil || got != first {
				t.Errorf("%d leaves of %d: tree %s, %v; want %s", part, count, got, err, first)
			}
		}
		if count == 0 {
			if !tree.IsZero() {
				t.Errorf("no leaves have the tree %s", tree)
			}
			return
		}
		i := rapid.IntRange(0, count-1).Draw(t, "leaf")
		if id, err := fanout.FindLeaf(out.Reader, tree, i*fanout.LeafWidth+3); err != nil || id != leafOf(t, out, i) {
			t.Errorf("leaf %d of %d is %s, %v", i, count, id, err)
		}
	})
}

// TestMissing checks that a sequence that lacks a part is damaged, not shorter.
func TestMissing(t *testing.T) {
	out := newWriter(t)
	w := fanout.NewWriter(oid.SHA1, out.Write)
	const files = 600
	write(t, out, &w, 0, files/fanout.LeafWidth+1)
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
		resume bool
	}{
		{"0000/00", 3, false},
		{"0000/00/02", 35, true}, // directories that are whole are not read
		{"0000/01/05", 599, false},
		{"0000/01/04", 590, false},
	} {
		t.Run(c.path, func(t *testing.T) {
			damaged := without(tree, strings.Split(c.path, "/"))
			if _, err := fanout.FindLeaf(out.Reader, damaged, c.k); !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("file %d: %v", c.k, err)
			}
			rest := fanout.NewWriter(oid.SHA1, out.Write)
			if err := rest.Resume(out.Reader, "top", damaged, files, files/fanout.LeafWidth); (err == nil) != c.resume || err != nil && !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("resume: %v", err)
			}
		})
	}
	rest := fanout.NewWriter(oid.SHA1, out.Write)
	if err := rest.Resume(out.Reader, "top", tree, 700, 43); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("more files than there are: %v", err)
	}
	if _, err := fanout.FindLeaf(out.Reader, odb.ID{}, 0); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("a sequence without files: %v", err)
	}
}
