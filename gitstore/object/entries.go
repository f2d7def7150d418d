package object

import (
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Directory returns the tree of that name, or a zero id. An entry that is a file is [domarkx.ErrCorrupt].
func Directory(entries []odb.TreeEntry, name string) (odb.ID, error) {
	e := odb.FindEntry(entries, name)
	if e.Name != "" && !e.IsTree() {
		return odb.ID{}, fmt.Errorf("%s: %w: mode %o, expected a directory", name, domarkx.ErrCorrupt, e.Mode)
	}
	return e.ID, nil
}

// WithDirectory returns the entries with that directory in place of any of its name; a zero id stands for
// none.
func WithDirectory(entries []odb.TreeEntry, name string, id odb.ID) []odb.TreeEntry {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e odb.TreeEntry) bool { return e.Name == name })
	if !id.IsZero() {
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id})
	}
	return entries
}

// File returns the file of that name with its chunks, or a zero blob. An entry that is not an ordinary file is
// [domarkx.ErrCorrupt].
func File(entries []odb.TreeEntry, name string) (domarkx.Blob, error) {
	e := odb.FindEntry(entries, name)
	if e.Name == "" {
		return domarkx.Blob{}, nil
	}
	if e.Mode != odb.ModeFile {
		return domarkx.Blob{}, fmt.Errorf("%s: %w: mode %o, expected an ordinary file", name, domarkx.ErrCorrupt, e.Mode)
	}
	b := domarkx.Blob{ID: e.ID.String()}
	chunks, err := Directory(entries, name+codec.ChunksSuffix)
	if err == nil && !chunks.IsZero() {
		b.Chunks = chunks.String()
	}
	return b, err
}

// AppendFile appends the tree entries of a stored blob: its file and the directory of its chunks.
func AppendFile(entries []odb.TreeEntry, name string, blob domarkx.Blob) ([]odb.TreeEntry, error) {
	id, err := odb.ParseID(blob.ID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: name, ID: id})
	if blob.Chunks != "" {
		if id, err = odb.ParseID(blob.Chunks); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: name + codec.ChunksSuffix, ID: id})
	}
	return entries, nil
}
