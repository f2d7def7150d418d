package dirversion

import (
	"encoding/binary"
	"hash/crc32"
	"os"

	"github.com/domarkx/domarkx"
)

// The stat cache file consists of the records of each directory, an index of the
// directories, and a trailer of 24 bytes: the offset of the index, the CRC of everything
// before the trailer, and the file type.
const (
	cacheMagic  = "dxstat02"
	trailerSize = 8 + 4 + len(cacheMagic)
)

// A span locates the records of a directory in the file.
type span struct{ offset, size uint64 }

// A cache is a stat cache that was read. The zero cache is empty.
type cache struct {
	data        string
	directories map[string]span
}

// openCache reads a stat cache. It returns an empty one if the file is missing or damaged.
func openCache(path string) *cache {
	if path == "" {
		return &cache{}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return &cache{}
	}
	return decodeCache(data)
}

func decodeCache(data []byte) *cache {
	if len(data) < trailerSize {
		return &cache{}
	}
	end := len(data) - trailerSize
	trailer := data[end:]
	at := binary.LittleEndian.Uint64(trailer)
	if string(trailer[8+4:]) != cacheMagic || at > uint64(end) ||
		crc32.Checksum(data[:end], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(trailer[8:]) {
		return &cache{}
	}
	c := &cache{data: string(data[:at])}
	d := decoder{b: string(data[at:end])}
	const least = 3 // minimal size of a directory in the index, in bytes
	c.directories = make(map[string]span, min(d.uvarint(), uint64(end)/least))
	for len(d.b) > 0 {
		path := d.string()
		c.directories[path] = span{d.uvarint(), d.uvarint()}
	}
	if d.bad {
		return &cache{}
	}
	return c
}

// raw returns the encoded records of a directory, "" if there are none.
func (c *cache) raw(directory string) string {
	s := c.directories[directory]
	if s.offset > uint64(len(c.data)) || s.size > uint64(len(c.data))-s.offset {
		return ""
	}
	return c.data[s.offset : s.offset+s.size]
}

// records returns the records of the files in a directory, sorted by name.
func (c *cache) records(directory string) []record {
	records, err := decodeRecords(c.raw(directory))
	if err != nil {
		return nil
	}
	return records
}

// fileOf returns the file of a version that a record describes.
func (r *record) fileOf() domarkx.File {
	return domarkx.File{
		Type: r.stat.kind, Mode: r.stat.mode, ID: r.id, Size: sizeOf(r), Target: r.target,
		Major: r.stat.major, Minor: r.stat.minor, Xattrs: r.xattrs,
	}
}

func sizeOf(r *record) int64 {
	if r.stat.kind == domarkx.Regular {
		return r.stat.size
	}
	return 0
}
