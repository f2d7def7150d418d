package gitstore

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
)

// The list cache contains the snapshots that List returns, so that listing many sessions reads few objects. Its entries are
// found by the id of the commit, whose content never changes. A damaged cache is ignored.
//
// The file consists of a magic line, a CRC-32 (Castagnoli) of all that follows it in four bytes, big endian, and a record per
// commit. A record consists of the commit's id (20 bytes); number, messages, bytes and date as varints; and subject, preview and
// operation, each as a length (uvarint) followed by that many bytes.
const (
	listCacheName  = "list-cache"
	listCacheMagic = "domarkx list cache 1\n"
	cacheAfter     = 64 // number of misses after which the cache is written again
)

// A listCache is a decoded cache, in the order of the list.
type listCache struct {
	infos []domarkx.Info
	next  int            // index of the entry after the last one found, at which find looks first
	at    map[string]int // indexes by commit id; nil until needed
}

// find returns the entry of a commit.
func (c *listCache) find(id string) (domarkx.Info, bool) {
	at, ok := c.next, c.next < len(c.infos) && c.infos[c.next].ID == id
	if !ok {
		if c.at == nil {
			c.at = make(map[string]int, len(c.infos))
			for i := range c.infos {
				c.at[c.infos[i].ID] = i
			}
		}
		at, ok = c.at[id]
	}
	if !ok {
		return domarkx.Info{}, false
	}
	c.next = at + 1
	return c.infos[at], true
}

// readListCache returns the entries of the cache, or none if it does not exist or is damaged.
func readListCache(dir string) []domarkx.Info {
	data, err := os.ReadFile(filepath.Join(dir, listCacheName))
	if err != nil {
		return nil
	}
	return decodeListCache(data)
}

// writeListCache replaces the cache. It ignores errors, since a repository may not be writable.
func writeListCache(dir string, infos []domarkx.Info) {
	writeCache(dir, listCacheName, encodeListCache(infos))
}

func encodeListCache(infos []domarkx.Info) []byte {
	data := newCache(listCacheMagic, len(infos)*160)
	for _, info := range infos {
		data, _ = hex.AppendDecode(data, []byte(info.ID)) // an id is always valid
		for _, n := range []int64{int64(info.Number), int64(info.Messages), info.Bytes, info.Date} {
			data = binary.AppendVarint(data, n)
		}
		for _, text := range []string{info.Subject, info.Preview, info.Operation} {
			data = append(binary.AppendUvarint(data, uint64(len(text))), text...)
		}
	}
	return sealCache(listCacheMagic, data)
}

// newCache returns the beginning of a cache: its magic line and room for the checksum. size is the expected size of the records
// in bytes.
func newCache(magic string, size int) []byte {
	return append(append(make([]byte, 0, len(magic)+4+size), magic...), 0, 0, 0, 0)
}

// sealCache sets the checksum of a cache, to which all records were appended.
func sealCache(magic string, data []byte) []byte {
	binary.BigEndian.PutUint32(data[len(magic):], crc32.Checksum(data[len(magic)+4:], crc32.MakeTable(crc32.Castagnoli)))
	return data
}

// openCache returns a decoder for the records of a cache, or false if its magic line or checksum is wrong.
func openCache(magic string, data []byte) (cacheDecoder, bool) {
	start := len(magic) + 4
	if len(data) < start || string(data[:len(magic)]) != magic ||
		binary.BigEndian.Uint32(data[len(magic):]) != crc32.Checksum(data[start:], crc32.MakeTable(crc32.Castagnoli)) {
		return cacheDecoder{}, false
	}
	return cacheDecoder{rest: string(data[start:])}, true
}

func decodeListCache(data []byte) []domarkx.Info {
	d, ok := openCache(listCacheMagic, data)
	if !ok {
		return nil
	}
	const usualRecord = 64 // bytes; most records have more
	infos := make([]domarkx.Info, 0, len(d.rest)/usualRecord)
	for len(d.rest) > 0 && !d.bad {
		info := domarkx.Info{ID: hex.EncodeToString([]byte(d.take(20)))}
		info.Number, info.Messages, info.Bytes, info.Date = int(d.varint()), int(d.varint()), d.varint(), d.varint()
		info.Subject, info.Preview, info.Operation = d.text(), d.text(), d.text()
		infos = append(infos, info)
	}
	if d.bad {
		return nil
	}
	return infos
}

type cacheDecoder struct {
	rest string
	bad  bool
}

func (d *cacheDecoder) take(n uint64) string {
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, ""
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *cacheDecoder) varint() int64 {
	n, size := binary.Varint([]byte(d.rest[:min(len(d.rest), binary.MaxVarintLen64)]))
	d.skip(size)
	return n
}

func (d *cacheDecoder) text() string {
	n, size := binary.Uvarint([]byte(d.rest[:min(len(d.rest), binary.MaxVarintLen64)]))
	d.skip(size)
	return d.take(n)
}

func (d *cacheDecoder) skip(size int) {
	if size <= 0 {
		d.bad, d.rest = true, ""
		return
	}
	d.rest = d.rest[size:]
}

// writeCache replaces a cache, if the directory exists. It ignores errors, and syncs nothing: a damaged cache is ignored.
func writeCache(dir, name string, data []byte) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return // reading does not create the state directory
	}
	f, err := os.CreateTemp(dir, name+".*.tmp")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
