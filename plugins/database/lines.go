package database

import (
	"context"
	"fmt"
	"hash/fnv"
)

// Lines writes the rows of a table to a version, one per line: to one file PATH.EXT, or for a
// large table to files PATH.rows/NNNN/NNN.EXT.
type Lines struct {
	v               *Version
	path, ext       string
	size            int
	held            []part // files that stay in memory while the table may still fit into a single file
	split           bool
	now             part
	directory, file int // numbers of the next directory and file
}

// A part is the content of one file of rows.
type part struct {
	data []byte
	last bool // whether this is the last file in its directory
}

// Lines starts a table.
func (v *Version) Lines(path, ext string) *Lines { return &Lines{v: v, path: path, ext: ext} }

// Add adds a row, which must end with its newline.
func (l *Lines) Add(ctx context.Context, row []byte) error {
	l.size += len(row)
	l.now.data = append(l.now.data, row...)
	ends, last := cut(row, len(l.now.data))
	if !ends {
		return nil
	}
	l.now.last = last
	full := l.now
	l.now = part{}
	if !l.split && l.size <= oneFile {
		l.held = append(l.held, full)
		return nil
	}
	return l.give(ctx, append(l.hold(), full)...)
}

// hold writes the files that were kept in memory, because the table needs more than one file.
func (l *Lines) hold() []part {
	held := l.held
	l.held, l.split = nil, true
	return held
}

func (l *Lines) give(ctx context.Context, parts ...part) error {
	for _, p := range parts {
		if err := l.v.File(ctx, fmt.Sprintf("%s.rows/%04d/%03d.%s", l.path, l.directory, l.file, l.ext), p.data); err != nil {
			return err
		}
		if l.file++; p.last {
			l.directory, l.file = l.directory+1, 0
		}
	}
	return nil
}

// End completes the table.
func (l *Lines) End(ctx context.Context) error {
	if l.split || l.size > oneFile {
		parts := l.hold()
		if len(l.now.data) > 0 {
			parts = append(parts, l.now)
		}
		return l.give(ctx, parts...)
	}
	var all []byte
	for _, p := range append(l.held, l.now) {
		all = append(all, p.data...)
	}
	return l.v.File(ctx, l.path+"."+l.ext, all)
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
