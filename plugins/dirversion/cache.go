package dirversion

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"

	"github.com/domarkx/domarkx/format/domarkx"
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

// A cacheWriter writes a new stat cache to a temporary file. Without a path it does nothing.
type cacheWriter struct {
	path        string
	f           *os.File
	w           *bufio.Writer
	at          uint64
	crc         uint32
	directories map[string]span
	order       []string
	buf         []byte
	err         error
}

func newCacheWriter(path string) *cacheWriter {
	w := &cacheWriter{path: path, directories: map[string]span{}}
	if path == "" {
		return w
	}
	temp := path + ".new"
	os.Remove(temp) // what a killed process left
	if w.f, w.err = os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); w.err == nil {
		w.w = bufio.NewWriterSize(w.f, 256<<10)
	}
	return w
}

// put writes the records of a directory. A second put replaces the first.
func (w *cacheWriter) put(directory string, records []record) {
	if w.w == nil {
		return
	}
	w.buf = encodeRecords(w.buf[:0], records)
	w.write(directory, w.buf)
}

// copy writes records of a directory that are already encoded.
func (w *cacheWriter) copy(directory, raw string) {
	if w.w == nil {
		return
	}
	w.buf = append(w.buf[:0], raw...)
	w.write(directory, w.buf)
}

func (w *cacheWriter) write(directory string, b []byte) {
	if _, ok := w.directories[directory]; !ok {
		w.order = append(w.order, directory)
	}
	w.directories[directory] = span{w.at, uint64(len(b))}
	w.append(b)
}

func (w *cacheWriter) append(b []byte) {
	w.at += uint64(len(b))
	w.crc = crc32.Update(w.crc, crc32.MakeTable(crc32.Castagnoli), b)
	if _, err := w.w.Write(b); w.err == nil {
		w.err = err
	}
}

// patchStats replaces the stats of records that were put before, and marks them as not racy.
func (w *cacheWriter) patchStats(directory string, changed map[string]record) {
	s, ok := w.directories[directory]
	if w.w == nil || !ok {
		return
	}
	raw := make([]byte, s.size)
	err := w.w.Flush()
	if err == nil {
		_, err = w.f.ReadAt(raw, int64(s.offset))
	}
	records, bad := decodeRecords(string(raw))
	if err = errors.Join(err, bad); err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	for i := range records {
		if r, ok := changed[records[i].name]; ok {
			records[i].stat, records[i].racy = r.stat, false
		}
	}
	w.put(directory, records)
}

// commit replaces the stat cache durably: a power cut must not restore an old cache together with
// the old files that match it.
func (w *cacheWriter) commit() error {
	if w.w == nil {
		return w.err
	}
	defer w.abort()
	at := w.at
	b := binary.AppendUvarint(w.buf[:0], uint64(len(w.order)))
	for _, path := range w.order {
		s := w.directories[path]
		b = appendString(b, path)
		b = binary.AppendUvarint(b, s.offset)
		b = binary.AppendUvarint(b, s.size)
	}
	w.append(b)
	trailer := binary.LittleEndian.AppendUint64(nil, at)
	trailer = binary.LittleEndian.AppendUint32(trailer, w.crc)
	w.append(append(trailer, cacheMagic...))
	if err := w.w.Flush(); w.err == nil {
		w.err = err
	}
	if w.err == nil {
		w.err = w.f.Sync()
	}
	if err := w.f.Close(); w.err == nil {
		w.err = err
	}
	if w.err == nil {
		w.err = os.Rename(w.f.Name(), w.path)
	}
	return w.err
}

// abort removes the temporary file. It does nothing after commit.
func (w *cacheWriter) abort() {
	if w.f == nil {
		return
	}
	w.f.Close()
	if err := os.Remove(w.f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) && w.err == nil {
		w.err = err
	}
	w.f = nil
}
