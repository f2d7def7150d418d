package database

import (
	"context"
	"fmt"
	"hash/fnv"
)

// How the rows of a table become files: cut where a row's own digest says so, so
// that a row that is inserted moves no others to another file.
const (
	perFile   = 64       // rows, on average
	perFolder = 64       // files, on average
	oneFile   = 64 << 10 // bytes of rows that stay in one file
)

// Lines are the rows of a table for the browsable part of a version, a line each.
type Lines struct {
	limit  int
	size   int
	over   bool
	files  [][]byte // all but the last are complete
	folder []bool   // whether a file is the last of its folder
	ended  bool
}

// NewLines begins a table of at most limit bytes.
func NewLines(limit int) *Lines { return &Lines{limit: limit} }

// Size returns how many bytes were added.
func (l *Lines) Size() int { return l.size }

// Add adds a line with its newline, and reports whether there is room for more.
func (l *Lines) Add(line []byte) bool {
	l.size += len(line)
	if l.size > l.limit {
		l.over, l.files = true, nil
		return false
	}
	if len(l.files) == 0 || l.ended {
		l.files, l.folder = append(l.files, nil), append(l.folder, false)
	}
	last := len(l.files) - 1
	l.files[last] = append(l.files[last], line...)
	h := fnv.New64a()
	h.Write(line)
	digest := mix(h.Sum64())
	l.ended = digest%perFile == 0
	l.folder[last] = digest%(perFile*perFolder) == 0
	return true
}

// mix spreads a digest over its low bits, which FNV does badly for its last bytes.
func mix(d uint64) uint64 {
	d ^= d >> 33
	d *= 0xff51afd7ed558ccd
	return d ^ d>>33
}

// Give adds the table to a version: PATH.jsonl, of a large one PATH.rows/NNN/NNN.jsonl,
// of one over the limit only PATH.txt, which says so.
func (l *Lines) Give(ctx context.Context, v *Version, path string) error {
	if l.over {
		return v.File(ctx, path+".txt", []byte("The table has too many rows to be shown here. They are kept, and a query of the restored database finds them.\n"))
	}
	if l.size <= oneFile {
		var all []byte
		for _, f := range l.files {
			all = append(all, f...)
		}
		return v.File(ctx, path+".jsonl", all)
	}
	folder, file := 0, 0
	for i, data := range l.files {
		if err := v.File(ctx, fmt.Sprintf("%s.rows/%03d/%03d.jsonl", path, folder, file), data); err != nil {
			return err
		}
		if file++; l.folder[i] {
			folder, file = folder+1, 0
		}
	}
	return nil
}
