package fanout

import (
	"fmt"
	"path"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Writer stores the directories above a sequence of leaves. All leaves but the last are full.
type Writer struct {
	by     oid.Hash
	write  func(odb.Type, []byte) (odb.ID, error)
	levels [Levels - 1][]odb.TreeEntry // incomplete directories, from the top
	leaves int
}

// NewWriter returns a writer of a sequence that is empty. It stores directories with write.
func NewWriter(by oid.Hash, write func(odb.Type, []byte) (odb.ID, error)) Writer {
	return Writer{by: by, write: write}
}

// Clone returns an independent writer that begins with the same leaves.
func (w *Writer) Clone() Writer {
	c := *w
	for level, entries := range w.levels {
		c.levels[level] = slices.Clone(entries)
	}
	return c
}

// Add appends a leaf that is stored.
func (w *Writer) Add(leaf odb.ID) error {
	w.append(len(w.levels)-1, leaf)
	w.leaves++
	for level := len(w.levels) - 1; level > 0 && w.leaves*LeafWidth%Spans[level-1] == 0; level-- {
		if err := w.close(level); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) append(level int, id odb.ID) {
	name := DirectoryName(level, len(w.levels[level]))
	w.levels[level] = append(w.levels[level], odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id})
}

// close stores the directory of a level, unless it is empty, and adds it to its parent.
func (w *Writer) close(level int) error {
	if len(w.levels[level]) == 0 {
		return nil
	}
	id, err := object.EncodeTree(w.by, w.write, w.levels[level])
	if err != nil {
		return err
	}
	w.levels[level] = nil
	w.append(level-1, id)
	return nil
}

// Finish returns the tree of all leaves; a zero id without leaves.
func (w *Writer) Finish() (odb.ID, error) {
	for level := len(w.levels) - 1; level > 0; level-- {
		if err := w.close(level); err != nil {
			return odb.ID{}, err
		}
	}
	return object.EncodeTree(w.by, w.write, w.levels[0])
}

// Resume makes an empty writer begin with the first full leaves of a stored sequence of count files, whose top is called name in
// errors. It reads at most one directory of each level.
func (w *Writer) Resume(r object.Reader, name string, top odb.ID, count, leaves int) error {
	first, id := 0, top
	for level := range w.levels {
		if first == leaves*LeafWidth {
			break
		}
		entries, err := Directories(r, name, level, first, count, id)
		if err != nil {
			return err
		}
		whole := (leaves*LeafWidth - first) / Spans[level]
		w.levels[level] = slices.Clone(entries[:whole])
		if first += whole * Spans[level]; whole < len(entries) {
			id = entries[whole].ID
		}
	}
	w.leaves = leaves
	return nil
}

// Directories returns the subdirectories, in order, of the directory of a level that begins with file first, in a sequence of
// count files whose top is called name in errors.
func Directories(r object.Reader, name string, level, first, count int, id odb.ID) ([]odb.TreeEntry, error) {
	entries, err := r.Tree(id)
	if err != nil {
		return nil, err
	}
	want := (count - first + Spans[level] - 1) / Spans[level]
	if level > 0 {
		want = min(want, Width)
	}
	if len(entries) != want {
		return nil, fmt.Errorf("%s: %w: %d directories, expected %d", Path(name, level, first), domarkx.ErrCorrupt, len(entries), want)
	}
	for i := range entries {
		if entries[i].Name == DirectoryName(level, i) && entries[i].IsTree() {
			continue
		}
		ordered := slices.Clone(entries) // names with more than four digits are not in the order of their numbers
		for ; i < len(ordered); i++ {
			if ordered[i] = odb.FindEntry(entries, DirectoryName(level, i)); !ordered[i].IsTree() {
				return nil, fmt.Errorf("%s: %w: no directory %s", Path(name, level, first), domarkx.ErrCorrupt, DirectoryName(level, i))
			}
		}
		return ordered, nil
	}
	return entries, nil
}

// Path returns the path of the directory of a level that begins with file first, below a top that is called name.
func Path(name string, level, first int) string {
	names := LeafNames(Leaf(first))
	return path.Join(append([]string{name}, names[:level]...)...)
}
