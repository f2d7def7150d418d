package sessions

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

const (
	maxMemory   = 1 << 20 // bytes of a scratch file in memory; a larger one is an unlinked file
	maxDocument = 1 << 30 // bytes of a session's document
)

// A content is the bytes of a file: in memory, or for a large scratch file in an unlinked
// file. The zero value is empty.
type content struct {
	mem    []byte
	shared bool // others use mem: copy it before a write
	file   *os.File
	size   int64
}

// contentOf returns a content with the given bytes, which must not change.
func contentOf(b []byte) *content {
	return &content{mem: b[:len(b):len(b)], shared: true, size: int64(len(b))}
}

// bytes returns all bytes. The caller must not change them.
func (c *content) bytes() ([]byte, error) {
	if c.file == nil {
		c.shared = true
		return c.mem[:c.size:c.size], nil
	}
	if c.size > maxDocument {
		return nil, syscall.EFBIG
	}
	b := make([]byte, c.size)
	if _, err := c.file.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading a scratch file: %w", err)
	}
	return b, nil
}

func (c *content) readAt(p []byte, off int64) (int, error) {
	if off >= c.size {
		return 0, nil
	}
	p = p[:min(int64(len(p)), c.size-off)]
	if c.file == nil {
		return copy(p, c.mem[off:c.size]), nil
	}
	n, err := c.file.ReadAt(p, off)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// writeAt writes all of p. If inMemory is set, the content stays in memory whatever its
// size; otherwise a large one moves to a file in dir.
func (c *content) writeAt(p []byte, off int64, inMemory bool, dir string) error {
	if end := off + int64(len(p)); end > c.size {
		if err := c.truncate(end, inMemory, dir); err != nil {
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

// truncate changes the size. Added bytes are zero.
func (c *content) truncate(size int64, inMemory bool, dir string) error {
	if c.file == nil && size > maxMemory && !inMemory {
		if err := c.spill(dir); err != nil {
			return err
		}
	}
	if c.file != nil {
		if err := c.file.Truncate(size); err != nil {
			return err
		}
		c.size = size
		return nil
	}
	switch {
	case size <= c.size:
		if c.shared {
			c.mem = c.mem[:size:size]
		} else {
			clear(c.mem[size:c.size])
			c.mem = c.mem[:size]
		}
	case !c.shared && size <= int64(cap(c.mem)):
		c.mem = c.mem[:size]
	default:
		grown := make([]byte, size, size+min(size/4, 16<<20))
		copy(grown, c.mem[:c.size])
		c.mem, c.shared = grown, false
	}
	c.size = size
	return nil
}

// zero overwrites a range within the size with zeros.
func (c *content) zero(off, length int64) error {
	end := min(off+length, c.size)
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

func (c *content) own() {
	if c.shared {
		c.mem, c.shared = append([]byte(nil), c.mem[:c.size]...), false
	}
}

// spill moves the bytes to an unlinked file.
func (c *content) spill(dir string) error {
	f, err := os.CreateTemp(dir, "domarkx-scratch-")
	if err != nil {
		return err
	}
	if err = os.Remove(f.Name()); err == nil {
		_, err = f.WriteAt(c.mem[:c.size], 0)
	}
	if err != nil {
		f.Close()
		return err
	}
	c.file, c.mem, c.shared = f, nil, false
	return nil
}

// close releases the memory or the file.
func (c *content) close() {
	if c.file != nil {
		c.file.Close()
	}
	*c = content{}
}
