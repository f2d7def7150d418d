//go:build unix

package odb

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

func lockFile(f *os.File) error { return atomicfile.TryLock(f) }

// A mapping is the content of a file in read-only memory.
type mapping struct{ bytes []byte }

// mapFile maps a whole file into memory. Like Git, it relies on pack files not being truncated.
func mapFile(name string) (*mapping, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || info.Size() != int64(int(info.Size())) {
		return nil, fmt.Errorf("%q: %w: expected a file that is not empty", name, domarkx.ErrCorrupt)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: err}
	}
	return &mapping{b}, nil
}

// release gives the physical memory of the mapping back. A later access reads the file again.
func (m *mapping) release() { _ = unix.Madvise(m.bytes, unix.MADV_DONTNEED) }

func (m *mapping) close() error {
	if err := unix.Munmap(m.bytes); err != nil {
		return fmt.Errorf("unmap pack: %w", err)
	}
	return nil
}
