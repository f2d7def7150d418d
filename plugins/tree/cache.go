package tree

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"

	"github.com/domarkx/domarkx"
)

// The file of the stat cache: the records of each folder, then an index of the
// folders, then 24 bytes: where the index begins, its length, its CRC and the
// CRC's own kind.
const cacheMagic = "dxstat01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A span is where the records of a folder are.
type span struct {
	offset int64
	size   int
	crc    uint32
}

// A cache is a stat cache that is read. The zero cache knows nothing.
type cache struct {
	f       *os.File
	folders map[string]span
}

// openCache opens a stat cache; one that is missing or damaged knows nothing.
func openCache(path string) *cache {
	c := &cache{}
	if path == "" {
		return c
	}
	f, err := os.Open(path)
	if err != nil {
		return c
	}
	folders, err := readIndex(f)
	if err != nil {
		f.Close()
		return c
	}
	c.f, c.folders = f, folders
	return c
}

func (c *cache) close() {
	if c.f != nil {
		c.f.Close()
	}
}

const trailerSize = 8 + 8 + 4 + len(cacheMagic)

func readIndex(f *os.File) (map[string]span, error) {
	info, err := f.Stat()
	if err != nil || info.Size() < int64(trailerSize) {
		return nil, errRecord
	}
	var trailer [trailerSize]byte
	if _, err := f.ReadAt(trailer[:], info.Size()-int64(trailerSize)); err != nil {
		return nil, err
	}
	at, size := binary.LittleEndian.Uint64(trailer[:]), binary.LittleEndian.Uint64(trailer[8:])
	end := uint64(info.Size()) - uint64(trailerSize)
	if string(trailer[20:]) != cacheMagic || size > end || at != end-size {
		return nil, errRecord
	}
	index := make([]byte, size)
	if _, err := f.ReadAt(index, int64(at)); err != nil {
		return nil, err
	}
	if crc32.Checksum(index, castagnoli) != binary.LittleEndian.Uint32(trailer[16:]) {
		return nil, errRecord
	}
	d := decoder{b: index}
	const least = 4 // bytes of a folder in the index
	folders := make(map[string]span, min(d.uvarint(), size/least))
	for len(d.b) > 0 {
		path := d.string()
		folders[path] = span{int64(d.uvarint()), int(d.uvarint()), uint32(d.uvarint())}
	}
	if d.bad {
		return nil, errRecord
	}
	return folders, nil
}

// raw returns the records of a folder as they are written, nil when there are none.
func (c *cache) raw(folder string) []byte {
	s, ok := c.folders[folder]
	if !ok || s.size < 0 || s.offset < 0 {
		return nil
	}
	const most = 1 << 30
	if s.size > most {
		return nil
	}
	b := make([]byte, s.size)
	if _, err := c.f.ReadAt(b, s.offset); err != nil || crc32.Checksum(b, castagnoli) != s.crc {
		return nil
	}
	return b
}

// records returns what is known of the files in a folder, by name.
func (c *cache) records(folder string) []record {
	records, err := decodeRecords(c.raw(folder))
	if err != nil {
		return nil
	}
	return records
}

// A cacheWriter writes a stat cache aside. Its methods may be called from several
// goroutines; one without a file does nothing.
type cacheWriter struct {
	mu      sync.Mutex
	path    string
	f       *os.File
	w       *bufio.Writer
	at      int64
	folders map[string]span
	order   []string
	buf     []byte
	err     error
}

func newCacheWriter(path string) *cacheWriter {
	w := &cacheWriter{path: path, folders: map[string]span{}}
	if path == "" {
		return w
	}
	if w.f, w.err = os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new*"); w.err == nil {
		w.w = bufio.NewWriterSize(w.f, 256<<10)
	}
	return w
}

// put writes the records of a folder; again, they replace the earlier ones.
func (w *cacheWriter) put(folder string, records []record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.w == nil {
		return
	}
	w.buf = encodeRecords(w.buf[:0], records)
	w.write(folder, w.buf)
}

// copy writes the records of a folder that are encoded already.
func (w *cacheWriter) copy(folder string, raw []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.w != nil {
		w.write(folder, raw)
	}
}

func (w *cacheWriter) write(folder string, b []byte) {
	if _, ok := w.folders[folder]; !ok {
		w.order = append(w.order, folder)
	}
	w.folders[folder] = span{w.at, len(b), crc32.Checksum(b, castagnoli)}
	w.at += int64(len(b))
	if _, err := w.w.Write(b); w.err == nil {
		w.err = err
	}
}

// patchStats replaces the stats of records that were put before, and trusts them.
func (w *cacheWriter) patchStats(folder string, changed map[string]record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.w == nil {
		return
	}
	if err := w.w.Flush(); w.err == nil {
		w.err = err
	}
	reader := cache{f: w.f, folders: w.folders}
	records := reader.records(folder)
	for i := range records {
		if r, ok := changed[records[i].name]; ok {
			records[i].stat, records[i].racy = r.stat, false
		}
	}
	w.buf = encodeRecords(w.buf[:0], records)
	w.write(folder, w.buf)
}

// commit replaces the stat cache, durably: were the old one to come back after a
// power cut, it might agree with files that came back too.
func (w *cacheWriter) commit() error {
	if w.w == nil {
		return w.err
	}
	defer w.abort()
	b := binary.AppendUvarint(nil, uint64(len(w.order)))
	for _, path := range w.order {
		s := w.folders[path]
		b = appendString(b, path)
		b = binary.AppendUvarint(b, uint64(s.offset))
		b = binary.AppendUvarint(b, uint64(s.size))
		b = binary.AppendUvarint(b, uint64(s.crc))
	}
	trailer := binary.LittleEndian.AppendUint64(nil, uint64(w.at))
	trailer = binary.LittleEndian.AppendUint64(trailer, uint64(len(b)))
	trailer = binary.LittleEndian.AppendUint32(trailer, crc32.Checksum(b, castagnoli))
	w.w.Write(b)
	w.w.Write(append(trailer, cacheMagic...))
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

// abort removes what was written aside; harmless after commit.
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
