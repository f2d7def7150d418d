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
	held            []part // content that may still fit into one file
	split           bool
	now             part
	directory, file int // numbers of the next file
}

// A part is the content of a file.
type part struct {
	data []byte
	last bool // whether its directory ends with it
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

// hold writes the held content to files, because the table needs several.
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

// The rows of a table are divided into files where a row's own digest says so. So an inserted
// row does not move other rows to another file.
const (
	perFile      = 8 << 10   // bytes, on average
	perDirectory = 64        // files, on average
	maxFile      = 256 << 10 // bytes, except for a longer row
	oneFile      = 64 << 10  // bytes of rows that stay in one file
)

// cut reports whether a file with so many bytes ends after a row, and whether its directory does.
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
