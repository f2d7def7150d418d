package dirversion

import (
	"encoding/binary"
	"hash/crc32"
	"os"

	"github.com/domarkx/domarkx"
)

// The file of the stat cache: the records of each folder, then an index of the
// folders, then 24 bytes: where the index begins, the CRC of all before these bytes,
// and what kind of file it is.
const (
	cacheMagic  = "dxstat02"
	trailerSize = 8 + 4 + len(cacheMagic)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A span is where the records of a folder are.
type span struct{ offset, size uint64 }

// A cache is a stat cache that was read. The zero cache knows nothing.
type cache struct {
	data    string
	folders map[string]span
}

// openCache reads a stat cache; one that is missing or damaged knows nothing.
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
		crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(trailer[8:]) {
		return &cache{}
	}
	c := &cache{data: string(data[:at])}
	d := decoder{b: string(data[at:end])}
	const least = 3 // bytes of a folder in the index
	c.folders = make(map[string]span, min(d.uvarint(), uint64(end)/least))
	for len(d.b) > 0 {
		path := d.string()
		c.folders[path] = span{d.uvarint(), d.uvarint()}
	}
	if d.bad {
		return &cache{}
	}
	return c
}

// raw returns the records of a folder as they are written, "" when there are none.
func (c *cache) raw(folder string) string {
	s := c.folders[folder]
	if s.offset > uint64(len(c.data)) || s.size > uint64(len(c.data))-s.offset {
		return ""
	}
	return c.data[s.offset : s.offset+s.size]
}

// records returns what is known of the files in a folder, by name.
func (c *cache) records(folder string) []record {
	records, err := decodeRecords(c.raw(folder))
	if err != nil {
		return nil
	}
	return records
}

// fileOf is a record as a version has it.
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
