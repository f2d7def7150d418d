package database

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
)

// Lines writes the rows of a table to a version, one per line: to one file PATH.EXT, or for a
// large table to files PATH.rows/NNNN/NNN.EXT.
type Lines struct {
	v               *Version
	path, ext       string
	data            []byte // rows that are in no file yet
	split           bool   // whether they need more than one file
	directory, file int    // numbers of the next directory and file
}

// Lines starts a table.
func (v *Version) Lines(path, ext string) *Lines { return &Lines{v: v, path: path, ext: ext} }

// Add adds a row, which must end with its newline, and contain no other.
func (l *Lines) Add(ctx context.Context, row []byte) error {
	if l.split {
		return l.add(ctx, row)
	}
	if l.data = append(l.data, row...); len(l.data) <= oneFile {
		return nil
	}
	rows := l.data
	l.data, l.split = nil, true
	for row := range bytes.Lines(rows) {
		if err := l.add(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// add adds a row to one of several files.
func (l *Lines) add(ctx context.Context, row []byte) error {
	l.data = append(l.data, row...)
	ends, last := cut(row, len(l.data))
	if !ends {
		return nil
	}
	if err := l.give(ctx); err != nil {
		return err
	}
	l.data = l.data[:0]
	if l.file++; last {
		l.directory, l.file = l.directory+1, 0
	}
	return nil
}

func (l *Lines) give(ctx context.Context) error {
	return l.v.File(ctx, fmt.Sprintf("%s.rows/%04d/%03d.%s", l.path, l.directory, l.file, l.ext), l.data)
}

// End completes the table.
func (l *Lines) End(ctx context.Context) error {
	switch {
	case !l.split:
		return l.v.File(ctx, l.path+"."+l.ext, l.data)
	case len(l.data) > 0:
		return l.give(ctx)
	}
	return nil
}

// A row's hash decides whether a file, or a directory, ends after that row (content-defined
// chunking). So inserting a row does not move later rows to other files.
const (
	perFile      = 8 << 10   // bytes, on average
	perDirectory = 64        // files, on average
	maxFile      = 256 << 10 // bytes; a single longer row has a longer file
	oneFile      = 64 << 10  // bytes; a table with at most so many bytes of rows is a single file
)

// cut reports whether a file of size bytes that ends with row is complete, and whether its
// directory is.
func cut(row []byte, size int) (file, directory bool) {
	h := fnv.New64a()
	h.Write(row)
	d := h.Sum64()
	// The low bits of FNV hardly depend on the last bytes; this mixes them.
	d ^= d >> 33
	d *= 0xff51afd7ed558ccd
	d ^= d >> 33
	file = d%perFile < uint64(len(row)) || size >= maxFile
	return file, file && d>>32%perDirectory == 0
}
