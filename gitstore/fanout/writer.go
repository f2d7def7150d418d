package fanout

import (
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Writer stores a sequence of files.
type Writer struct {
	out    *object.Writer
	levels [Levels][]odb.TreeEntry // incomplete directories, the leaf last
	count  int
}

// NewWriter returns a writer of a sequence that is empty.
func NewWriter(out *object.Writer) Writer { return Writer{out: out} }

// Count returns the number of files.
func (w *Writer) Count() int { return w.count }

// Clone returns an independent writer that begins with the same files.
func (w *Writer) Clone() Writer {
	c := *w
	for level, entries := range w.levels {
		c.levels[level] = slices.Clone(entries)
	}
	return c
}

// Add appends a file that is stored.
func (w *Writer) Add(blob domarkx.Blob) error {
	leaf := len(w.levels) - 1
	var err error
	if w.levels[leaf], err = object.AppendFile(w.levels[leaf], FileName(w.count%LeafWidth), blob); err != nil {
		return err
	}
	w.count++
	for level := leaf; level > 0 && w.count%Spans[level-1] == 0; level-- {
		if err := w.close(level); err != nil {
			return err
		}
	}
	return nil
}

// close stores the directory of a level, unless it is empty, and adds it to its parent.
func (w *Writer) close(level int) error {
	if len(w.levels[level]) == 0 {
		return nil
	}
	id, err := w.out.WriteTree(w.levels[level])
	if err != nil {
		return err
	}
	w.levels[level] = nil
	name := LeafNames(Leaf(w.count - 1))[level-1]
	w.levels[level-1] = append(w.levels[level-1], odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id})
	return nil
}

// Finish returns the tree of all files; a zero id without files.
func (w *Writer) Finish() (odb.ID, error) {
	for level := len(w.levels) - 1; level > 0; level-- {
		if err := w.close(level); err != nil {
			return odb.ID{}, err
		}
	}
	return w.out.WriteTree(w.levels[0])
}

// Resume returns a writer that holds the first count files of a stored sequence. It reads one
// directory of each level. A missing entry is [domarkx.ErrCorrupt].
func Resume(out *object.Writer, top odb.ID, count int) (Writer, error) {
	w := Writer{out: out, count: count}
	id := top
	for level := range w.levels {
		entries, err := out.Tree(id)
		if err != nil {
			return Writer{}, err
		}
		n := count / Spans[level]
		if level > 0 {
			n = count % Spans[level-1] / Spans[level]
		}
		if level == len(w.levels)-1 {
			w.levels[level], err = files(entries, n, count)
			return w, err
		}
		for i := range n {
			e := odb.FindEntry(entries, DirectoryName(level, i))
			if !e.IsTree() {
				return Writer{}, missing(level, i)
			}
			w.levels[level] = append(w.levels[level], e)
		}
		if count%Spans[level] == 0 {
			return w, nil // no open directory below
		}
		if id, err = object.Directory(entries, DirectoryName(level, n)); err != nil {
			return Writer{}, err
		}
		if id.IsZero() {
			return Writer{}, missing(level, n)
		}
	}
	return w, nil
}

// files returns the entries of the first n files of a leaf, which are the last n of the first count
// files of the sequence.
func files(entries []odb.TreeEntry, n, count int) (list []odb.TreeEntry, err error) {
	for i := range n {
		b, err := object.File(entries, FileName(i))
		if err == nil && b.ID == "" {
			err = fmt.Errorf("file %d: %w: it is missing", count-n+i, domarkx.ErrCorrupt)
		}
		if err != nil {
			return nil, err
		}
		if list, err = object.AppendFile(list, FileName(i), b); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func missing(level, i int) error {
	return fmt.Errorf("directory %s: %w: it is missing", DirectoryName(level, i), domarkx.ErrCorrupt)
}
