// Package fanout numbers files in directories of bounded width: a leaf has [LeafWidth] files, the two levels
// above it have [Width] directories each, and the top has any number. The messages of a conversation and the
// segments of an original are stored so; SPEC.md of package gitstore specifies the names.
//
// Appending a file writes only the directories on one path, about 3.6 KB with these widths.
package fanout

import (
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// The shape of the tree of directories.
const (
	LeafWidth = codec.LeafWidth // files of a leaf
	Width     = 32              // directories of the two levels above a leaf
	Levels    = 4               // the top, two levels of directories, and the files of a leaf
)

// Spans are the numbers of files below one entry of each level, from the top: an entry of the top, of
// tttt/, of mm/, and a file.
var Spans = [Levels]int{LeafWidth * Width * Width, LeafWidth * Width, LeafWidth, 1}

// Leaf returns the number of the leaf with file k.
func Leaf(k int) int { return k / LeafWidth }

// LeafNames returns the names of the three directories on the path from the top to a leaf.
func LeafNames(leaf int) [Levels - 1]string {
	first := leaf * LeafWidth
	return [Levels - 1]string{
		DirectoryName(0, first/Spans[0]),
		DirectoryName(1, first/Spans[1]%Width),
		DirectoryName(2, first/Spans[2]%Width),
	}
}

// DirectoryName returns the name of entry i of a directory of that level.
func DirectoryName(level, i int) string {
	if level == 0 {
		return fmt.Sprintf("%04d", i)
	}
	return FileName(i)
}

// FileName returns the name of file i of a leaf, or the beginning of it.
func FileName(i int) string { return fmt.Sprintf("%02d", i) }

// ParseFileName parses what FileName returned.
func ParseFileName(s string) (i int, ok bool) {
	if len(s) != 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

// FindLeaf returns the directory of the leaf with file k below the top. It reads one directory of each
// level. A missing one is [domarkx.ErrCorrupt].
func FindLeaf(r object.Reader, top odb.ID, k int) (odb.ID, error) {
	id := top
	for _, name := range LeafNames(Leaf(k)) {
		if id.IsZero() {
			break
		}
		entries, err := r.Tree(id)
		if err != nil {
			return odb.ID{}, err
		}
		if id, err = object.Directory(entries, name); err != nil {
			return odb.ID{}, err
		}
	}
	if id.IsZero() {
		return odb.ID{}, fmt.Errorf("directory of number %d: %w: it is missing", k, domarkx.ErrCorrupt)
	}
	return id, nil
}
