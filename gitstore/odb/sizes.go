package odb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
)

// A sizeTable contains the types and sizes of a pack's objects. In the pack they are at the beginning of each object,
// so that listing the sizes of all files of a version would read nearly the whole pack. The table is a cache with 4
// bytes per object. It is stored in <common directory>/domarkx/sizes, in a file named like the pack:
//
//	"DMXS", 1 as 4 bytes
//	20 or 32 bytes, by the hash function: the checksum of the pack
//	4 bytes     the number of its objects
//	4 bytes     for each object, in the order of the index: the type in the upper 3 bits and
//	            the size in the others; 0 if unknown
//	4 bytes     CRC-32C of all that
//
// Numbers are big endian. Invalid files are ignored.
type sizeTable struct {
	known []atomic.Uint32
	fresh atomic.Int64 // number of known entries that the file does not have
}

const (
	sizeMark = "DMXS\x00\x00\x00\x01"
	sizeBits = 29
	// manySizes is the number of requested sizes of a pack after which a table is used.
	manySizes = 64
	// maxSizes is the number of objects above which a pack gets no table.
	maxSizes = 1 << 24
	// minFresh is the number of new entries after which the file is written.
	minFresh = 1024
)

func (d *Database) sizesDir() string { return filepath.Dir(d.sizesPath("x")) }

func (d *Database) sizesPath(pack string) string {
	return derived.Sizes.Path(filepath.Join(d.common, "domarkx"), pack)
}

func (d *Database) sizesFile(p *pack) string {
	return d.sizesPath(filepath.Base(p.path))
}

// sizesOf returns the table of a pack, or nil as long as few sizes were requested.
func (d *Database) sizesOf(p *pack) *sizeTable {
	if t := p.sizes.Load(); t != nil || p.asked.Add(1) < manySizes {
		return t
	}
	x, err := p.index()
	if err != nil || x.Len() > maxSizes {
		return nil
	}
	p.open.Lock()
	defer p.open.Unlock()
	if t := p.sizes.Load(); t != nil {
		return t
	}
	t := &sizeTable{known: make([]atomic.Uint32, x.Len())}
	if data, err := readSizes(d.sizesFile(p), x); err == nil {
		for i := range t.known {
			t.known[i].Store(binary.BigEndian.Uint32(data[4*i:]))
		}
	}
	p.sizes.Store(t)
	return t
}

// readSizes returns the entries in the file of a pack's table.
func readSizes(name string, x *packidx.Index) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := sizesHead(x)
	data := make([]byte, len(head)+4*x.Len()+4)
	if info.Size() != int64(len(data)) {
		return nil, errors.New("it has another size")
	}
	if _, err := f.ReadAt(data, 0); err != nil {
		return nil, err
	}
	end := len(data) - 4
	if string(data[:len(head)]) != head || binary.BigEndian.Uint32(data[end:]) != crc32.Checksum(data[:end], crc32.MakeTable(crc32.Castagnoli)) {
		return nil, errors.New("it is of another pack, or damaged")
	}
	return data[len(head):end], nil
}

func sizesHead(x *packidx.Index) string {
	head := append([]byte(sizeMark), x.PackChecksum()...)
	return string(binary.BigEndian.AppendUint32(head, uint32(x.Len())))
}

// get returns the cached type and size of an object.
func (t *sizeTable) get(i int) (Type, int64, bool) {
	v := t.known[i].Load()
	kind := Type(v >> sizeBits)
	return kind, int64(v & (1<<sizeBits - 1)), kind >= Commit && kind <= Tag
}

func (t *sizeTable) put(i int, kind Type, size int64) {
	if size < 1<<sizeBits && t.known[i].Swap(uint32(kind)<<sizeBits|uint32(size)) == 0 {
		t.fresh.Add(1)
	}
}

// stat returns the type and size of an object by its position in the index.
func (d *Database) stat(p *pack, i int) (t Type, size int64, err error) {
	table := d.sizesOf(p)
	if table != nil {
		if t, size, ok := table.get(i); ok {
			return t, size, nil
		}
	}
	if t, size, err = p.stat(p.offset(i)); err == nil && table != nil {
		table.put(i, t, size)
	}
	return t, size, err
}

// saveSizes writes the table of a pack to its file if it has many new entries. It ignores errors, since the pack
// contains the sizes too.
func (d *Database) saveSizes(p *pack) {
	t, x := p.sizes.Load(), p.idx.Load()
	if t == nil || t.fresh.Load() < minFresh || p.gone.Load() {
		return
	}
	data := []byte(sizesHead(x))
	for i := range t.known {
		data = binary.BigEndian.AppendUint32(data, t.known[i].Load())
	}
	data = binary.BigEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
	if os.MkdirAll(d.sizesDir(), 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(d.sizesDir(), filepath.Base(p.path)+".*.tmp")
	if err != nil {
		return
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), d.sizesFile(p))
	}
	if err != nil {
		os.Remove(temp.Name())
	}
}

// RemoveSizes removes the tables of packs that no longer exist, and temporary files that were last modified before a
// time.
func (d *Database) RemoveSizes(before time.Time) error {
	entries, err := os.ReadDir(d.sizesDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read list of sizes: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		name := filepath.Join(d.sizesDir(), entry.Name())
		if strings.HasSuffix(name, ".tmp") {
			if info, err := entry.Info(); err != nil || info.ModTime().After(before) {
				continue
			}
		} else if d.hasPack(entry.Name()) {
			continue
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove sizes of a pack: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (d *Database) hasPack(name string) bool {
	for _, dir := range d.dirs {
		if _, err := os.Stat(filepath.Join(dir, "pack", name+".pack")); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}
