package dirversion

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// names returns the names in the directory, sorted by bytes.
func (d *dir) names() ([]string, error) {
	if _, err := unix.Seek(d.fd, 0, io.SeekStart); err != nil {
		return nil, err
	}
	buf := d.shared.buffers.Get().(*[]byte)
	defer d.shared.buffers.Put(buf)
	var names []string
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(d.fd, *buf) })
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			slices.Sort(names)
			return names, nil
		}
		names = appendNames(names, string((*buf)[:n]))
	}
}

// Offsets of the length and the name in a linux_dirent64 (getdents(2)).
const (
	direntLength = 8 + 8
	direntName   = 8 + 8 + 2 + 1
)

// appendNames appends the names of directory entries. They share the memory of entries.
func appendNames(names []string, entries string) []string {
	for len(entries) > direntName {
		size := int(binary.NativeEndian.Uint16([]byte(entries[direntLength : direntLength+2])))
		if size <= direntName || size > len(entries) {
			break
		}
		name := entries[direntName:size]
		if i := strings.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		entries = entries[size:]
		if name != "." && name != ".." {
			names = append(names, name)
		}
	}
	return names
}
