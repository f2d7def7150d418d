package dirversion

import (
	"encoding/binary"
	"hash/crc32"
	"os"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// A stat cache file consists of the path and the encoded records of each directory, and a trailer: the CRC of everything
// before it, and the file type.
const (
	cacheMagic  = "dxstat03"
	trailerSize = 4 + len(cacheMagic)
)

// A cache has the encoded records of the files in each directory, by path.
type cache map[string]string

func checksum(data []byte) uint32 {
	return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
}

// openCache reads a stat cache. It returns an empty one if the file is missing or damaged.
func openCache(path string) cache {
	data, err := os.ReadFile(path)
	if err != nil || len(data) < trailerSize {
		return cache{}
	}
	body, trailer := data[:len(data)-trailerSize], data[len(data)-trailerSize:]
	if string(trailer[4:]) != cacheMagic || checksum(body) != binary.LittleEndian.Uint32(trailer) {
		return cache{}
	}
	c := cache{}
	d := derived.NewDecoder(string(body))
	for d.More() {
		path := d.Text()
		c[path] = d.Text()
	}
	if d.Bad() {
		return cache{}
	}
	return c
}

// records returns the records of the files in a directory, sorted by name.
func (c cache) records(directory string) []record {
	records, _ := decodeRecords(c[directory])
	return records
}

// put sets the records of the files in a directory.
func (c cache) put(directory string, records []record) { c[directory] = encodeRecords(records) }

// patch replaces the stats of records, and marks them as not racy.
func (c cache) patch(directory string, changed map[string]beneath.Stat) {
	records := c.records(directory)
	for i := range records {
		if st, ok := changed[records[i].name]; ok {
			records[i].stat, records[i].racy = st, false
		}
	}
	if records != nil {
		c.put(directory, records)
	}
}

// write replaces a stat cache file durably: a power cut must not restore an old cache together with the old files that
// match it. Without a path it does nothing.
func (c cache) write(path string) error {
	if path == "" {
		return nil
	}
	size := trailerSize
	for directory, records := range c {
		size += len(directory) + len(records) + 2*binary.MaxVarintLen32
	}
	data := make([]byte, 0, size)
	for directory, records := range c {
		data = derived.AppendText(derived.AppendText(data, directory), records)
	}
	data = binary.LittleEndian.AppendUint32(data, checksum(data))
	return atomicfile.Replace(path, append(data, cacheMagic...))
}

// fileOf returns the entry of a version for the file that the record describes.
func (r *record) fileOf() domarkx.File {
	return domarkx.File{
		Type: r.stat.Kind, Mode: r.stat.Mode, ID: r.id, Size: sizeOf(r), Target: r.target,
		Major: r.stat.Major, Minor: r.stat.Minor, Xattrs: r.xattrs,
	}
}

func sizeOf(r *record) int64 {
	if r.stat.Kind == domarkx.Regular {
		return r.stat.Size
	}
	return 0
}
