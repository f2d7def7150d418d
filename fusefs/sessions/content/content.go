// Package content holds the bytes of an open file: in memory, or in an unlinked file if they are
// many and no journal has to store them.
package content

import (
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
)

const maxMemory = 1 << 20 // bytes of a scratch file in memory; a larger one is an unlinked file

// MaxDocument is the largest size of a session's document in bytes.
const MaxDocument = 1 << 30

// A Content is the bytes of a file: in memory, or for a large scratch file in an unlinked
// file. The zero value is empty.
type Content struct {
	mem    []byte
	shared bool // others use mem: copy it before a write
	file   *os.File
	Size   int64 // in bytes; only methods change it
}

// Of returns a content with the given bytes, which must not change.
func Of(b []byte) *Content {
	return &Content{mem: b[:len(b):len(b)], shared: true, Size: int64(len(b))}
}

// Bytes returns all bytes. The caller must not change them.
func (c *Content) Bytes() ([]byte, error) {
	if c.file == nil {
		c.shared = true
		return slices.Clip(c.mem), nil
	}
	if c.Size > MaxDocument {
		return nil, syscall.EFBIG
	}
	b := make([]byte, c.Size)
	if _, err := c.file.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading a scratch file: %w", err)
	}
	return b, nil
}

// ReadAt reads like pread(2): fewer bytes than requested mean the end.
func (c *Content) ReadAt(p []byte, off int64) (int, error) {
	if off >= c.Size {
		return 0, nil
	}
	p = p[:min(int64(len(p)), c.Size-off)]
	if c.file == nil {
		return copy(p, c.mem[off:]), nil
	}
	n, err := c.file.ReadAt(p, off)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// WriteAt writes all of p. If inMemory is set, the content stays in memory whatever its
// size; otherwise a large one moves to a file in dir.
func (c *Content) WriteAt(p []byte, off int64, inMemory bool, dir string) error {
	if end := off + int64(len(p)); end > c.Size {
		if err := c.Truncate(end, inMemory, dir); err != nil {
			return err
		}
	}
	if c.file != nil {
		_, err := c.file.WriteAt(p, off)
		return err
	}
	c.own()
	copy(c.mem[off:], p)
	return nil
}

// Truncate changes the size. Added bytes are zero.
func (c *Content) Truncate(size int64, inMemory bool, dir string) error {
	if c.file == nil && size > maxMemory && !inMemory {
		if err := c.spill(dir); err != nil {
			return err
		}
	}
	if c.file != nil {
		if err := c.file.Truncate(size); err != nil {
			return err
		}
		c.Size = size
		return nil
	}
	if size <= c.Size {
		c.mem = c.mem[:size:size]
	} else {
		if c.shared {
			c.mem = slices.Clip(c.mem) // append copies it
		}
		c.mem, c.shared = append(c.mem, make([]byte, size-c.Size)...), false
	}
	c.Size = size
	return nil
}

// Zero overwrites a range within the size with zeros.
func (c *Content) Zero(off, length int64) error {
	end := min(off+length, c.Size)
	if off >= end {
		return nil
	}
	if c.file == nil {
		c.own()
		clear(c.mem[off:end])
		return nil
	}
	blank := make([]byte, min(end-off, 1<<20))
	for ; off < end; off += int64(len(blank)) {
		if _, err := c.file.WriteAt(blank[:min(int64(len(blank)), end-off)], off); err != nil {
			return err
		}
	}
	return nil
}

func (c *Content) own() {
	if c.shared {
		c.mem, c.shared = slices.Clone(c.mem), false
	}
}

// spill moves the bytes to an unlinked file.
func (c *Content) spill(dir string) error {
	f, err := os.CreateTemp(dir, "domarkx-scratch-")
	if err != nil {
		return err
	}
	if err = os.Remove(f.Name()); err == nil {
		_, err = f.WriteAt(c.mem, 0)
	}
	if err != nil {
		f.Close()
		return err
	}
	c.file, c.mem, c.shared = f, nil, false
	return nil
}

// Close releases the memory or the file.
func (c *Content) Close() {
	if c.file != nil {
		c.file.Close()
	}
	*c = Content{}
}
