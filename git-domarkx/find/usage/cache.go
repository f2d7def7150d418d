package usage

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
)

// The cache stores the rows of the newest snapshots of sessions, so that a later count only reads
// new messages. Entries are keyed by object ids. A cache that is damaged or has another version is
// ignored.
//
// The file consists of a magic line, the CRC-32 (Castagnoli) of the rest in four bytes, and the
// rest: a table of strings, then the sessions. Numbers are varints, strings and lists are preceded
// by their length, and the strings of sessions are indexes in the table.
const (
	cacheName  = "usage-cache"
	cacheMagic = "domarkx usage cache 1\n"
)

// The bits of the first byte of a row.
const (
	isCounted = 1 << iota
	isChat
	hasKey
	hasCost
)

func readCache(dir string) []session {
	if dir == "" {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(dir, cacheName))
	if err != nil {
		return nil
	}
	return decodeCache(data)
}

// writeCache replaces the cache. It returns false if that failed, for example because the
// repository is read-only.
func writeCache(dir string, sessions []session) bool {
	if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
		return false // counting does not create the state directory
	}
	f, err := os.CreateTemp(dir, cacheName+".*.tmp")
	if err != nil {
		return false
	}
	_, err = f.Write(encodeCache(sessions))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, cacheName))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err == nil
}

func encodeCache(sessions []session) []byte {
	var body []byte
	var table []string
	at := map[string]uint64{}
	str := func(s string) {
		i, ok := at[s]
		if !ok {
			i = uint64(len(table))
			at[s], table = i, append(table, s)
		}
		body = binary.AppendUvarint(body, i)
	}
	for _, s := range sessions {
		body, _ = hex.AppendDecode(body, []byte(s.tip)) // the row has a valid id
		str(s.agent)
		body = binary.AppendUvarint(binary.AppendVarint(body, s.first), uint64(len(s.rows)))
		for _, a := range s.rows {
			body = append(append(append(body, a.flags()), a.blob[:]...), a.id[:]...)
			body = binary.AppendVarint(body, a.date)
			if a.counted {
				str(a.model)
				str(a.branch)
				body = a.appendNumbers(body)
			}
		}
	}
	head := binary.AppendUvarint(nil, uint64(len(table)))
	for _, s := range table {
		head = append(binary.AppendUvarint(head, uint64(len(s))), s...)
	}
	data := append(append(append([]byte(cacheMagic), 0, 0, 0, 0), head...), body...)
	binary.BigEndian.PutUint32(data[len(cacheMagic):], checksum(data))
	return data
}

// appendNumbers appends the part of a row after its strings.
func (r *row) appendNumbers(dst []byte) []byte {
	for _, n := range []int64{r.Input, r.CacheRead, r.CacheWrite, r.Output} {
		dst = binary.AppendVarint(dst, n)
	}
	if r.key != (key{}) {
		dst = append(dst, r.key[:]...)
	}
	if r.hasCost {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.cost))
	}
	return dst
}

func (r *row) flags() (flags byte) {
	if r.counted {
		flags |= isCounted
	}
	if r.chat {
		flags |= isChat
	}
	if r.key != (key{}) {
		flags |= hasKey
	}
	if r.hasCost {
		flags |= hasCost
	}
	return flags
}

// checksum returns the checksum of the bytes after it in the file.
func checksum(data []byte) uint32 {
	return crc32.Checksum(data[len(cacheMagic)+4:], crc32.MakeTable(crc32.Castagnoli))
}

// decodeCache returns the sessions in a cache, or nil if it is damaged.
func decodeCache(data []byte) []session {
	if len(data) < len(cacheMagic)+4 || string(data[:len(cacheMagic)]) != cacheMagic || binary.BigEndian.Uint32(data[len(cacheMagic):]) != checksum(data) {
		return nil
	}
	d := decoder{rest: data[len(cacheMagic)+4:]}
	table := make([]string, 0, min(d.length(1), 1<<10))
	for n := d.count; n > 0 && !d.bad; n-- {
		table = append(table, string(d.take(d.length(1))))
	}
	d.table = table
	var sessions []session
	for len(d.rest) > 0 && !d.bad {
		s := session{tip: hex.EncodeToString(d.take(20)), agent: d.str(), first: d.number()}
		const smallest = 1 + 20 + 16 + 1 // minimum size of a row in bytes
		n := d.length(smallest)
		s.rows = make([]answer, n)
		for i := range s.rows {
			d.answer(&s.rows[i])
		}
		sessions = append(sessions, s)
	}
	if d.bad {
		return nil
	}
	return sessions
}

// A decoder reads a cache. After invalid input it returns zero values.
type decoder struct {
	rest  []byte
	table []string
	count int // the last result of length
	bad   bool
}

func (d *decoder) answer(a *answer) {
	flags := d.take(1)[0]
	copy(a.blob[:], d.take(len(a.blob)))
	copy(a.id[:], d.take(len(a.id)))
	a.date = d.number()
	if flags&isCounted == 0 {
		return
	}
	a.counted, a.chat = true, flags&isChat != 0
	a.model, a.branch = d.str(), d.str()
	d.numbers(&a.row, flags)
}

// numbers reads the part of a row after its strings.
func (d *decoder) numbers(r *row, flags byte) {
	r.Input, r.CacheRead, r.CacheWrite, r.Output = d.number(), d.number(), d.number(), d.number()
	if flags&hasKey != 0 {
		copy(r.key[:], d.take(len(r.key)))
	}
	if r.hasCost = flags&hasCost != 0; r.hasCost {
		r.cost = math.Float64frombits(binary.LittleEndian.Uint64(d.take(8)))
	}
}

// take returns the next n bytes, or zeros if there are fewer.
func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.bad, d.rest = true, nil
		return make([]byte, n)
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// length reads the length of a list whose items have at least the given number of bytes.
func (d *decoder) length(item int) int {
	n, size := binary.Uvarint(d.rest)
	d.skip(size)
	if n > uint64(len(d.rest)/item) {
		d.bad, d.rest, n = true, nil, 0
	}
	d.count = int(n)
	return d.count
}

func (d *decoder) number() int64 {
	n, size := binary.Varint(d.rest)
	d.skip(size)
	return n
}

func (d *decoder) str() string {
	i, size := binary.Uvarint(d.rest)
	d.skip(size)
	if i >= uint64(len(d.table)) {
		d.bad, d.rest = true, nil
		return ""
	}
	return d.table[i]
}

func (d *decoder) skip(size int) {
	if size <= 0 {
		d.bad, d.rest = true, nil
		return
	}
	d.rest = d.rest[size:]
}
