// Package packidx reads and writes the index of a pack, which maps object ids to offsets (gitformat-pack(5),
// "pack-*.idx files"). It reads an index in place, from a memory-mapped file. So opening an index takes the same time
// whatever its size, while go-git copies all entries (BenchmarkFind).
package packidx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// An Index is the index of a pack, of version 1 or 2.
type Index struct {
	raw     []byte // the file
	fanout  []byte // the fan-out table: 256 big-endian counts
	n       int
	idSize  int    // of an id, in bytes
	entries []byte // starts at the first id
	stride  int    // bytes from one id to the next
	sums    []byte // starts at the first checksum of a packed object; nil in version 1
	offsets []byte // starts at the first 4-byte offset
	large   []byte // 8-byte offsets, in version 2
}

const fanoutSize = 256 * 4

// Parse reads the header of an index with ids of a hash function and checks the size of raw, so that no method reads beyond it. raw must not be
// changed afterwards. Parse does not verify checksums. It returns [domarkx.ErrCorrupt] for an invalid index, and
// [domarkx.ErrUnsupported] for one of an unknown version.
func Parse(by oid.Hash, raw []byte) (*Index, error) {
	x := &Index{raw: raw, idSize: by.Size()}
	trailerSize := 2 * x.idSize // the checksum of the pack, then that of the index
	version2 := bytes.HasPrefix(raw, []byte("\xfftOc"))
	body := 0
	if version2 {
		if len(raw) < 8 {
			return nil, errCorrupt("it is truncated")
		}
		if version := binary.BigEndian.Uint32(raw[4:]); version != 2 {
			return nil, fmt.Errorf("pack index: %w: version %d", domarkx.ErrUnsupported, version)
		}
		body = 8
	}
	if len(raw) < body+fanoutSize+trailerSize {
		return nil, errCorrupt("it is truncated")
	}
	x.fanout = raw[body : body+fanoutSize]
	body += fanoutSize
	for i, last := 0, uint32(0); i < 256; i++ {
		count := binary.BigEndian.Uint32(x.fanout[4*i:])
		if count < last {
			return nil, errCorrupt("its fan-out table is not in ascending order")
		}
		last = count
	}
	count := int64(binary.BigEndian.Uint32(x.fanout[255*4:]))
	rest := int64(len(raw) - body - trailerSize)
	if !version2 {
		if rest != int64(4+x.idSize)*count {
			return nil, errCorrupt("its size does not match its number of objects")
		}
		x.n, x.stride = int(count), 4+x.idSize
		if count > 0 {
			x.offsets, x.entries = raw[body:], raw[body+4:]
		}
		return x, nil
	}
	perObject := x.idSize + 4 + 4 // id, checksum, offset
	large := rest - int64(perObject)*count
	if large < 0 || large%8 != 0 || large/8 > count {
		return nil, errCorrupt("its size does not match its number of objects")
	}
	x.n, x.stride = int(count), x.idSize
	x.entries = raw[body:]
	x.sums = raw[body+x.idSize*x.n:]
	x.offsets = raw[body+(x.idSize+4)*x.n:]
	x.large = raw[body+perObject*x.n : len(raw)-trailerSize]
	return x, nil
}

func errCorrupt(what string) error {
	return fmt.Errorf("pack index: %w: %s", domarkx.ErrCorrupt, what)
}

// Len returns the number of objects.
func (x *Index) Len() int { return x.n }

// ID returns the i-th id in ascending order.
func (x *Index) ID(i int) oid.ID { return oid.FromBytes(x.id(i)) }

func (x *Index) id(i int) []byte { return x.entries[i*x.stride:][:x.idSize] }

// Offset returns the offset in the pack of the object with the i-th id, or -1 if the index is damaged.
func (x *Index) Offset(i int) int64 {
	if x.stride > x.idSize { // version 1
		return int64(binary.BigEndian.Uint32(x.offsets[x.stride*i:]))
	}
	offset := binary.BigEndian.Uint32(x.offsets[4*i:])
	if offset>>31 == 0 {
		return int64(offset)
	}
	i = int(offset &^ (1 << 31))
	if i >= len(x.large)/8 {
		return -1
	}
	return int64(binary.BigEndian.Uint64(x.large[8*i:]))
}

// CRC returns the CRC-32 of the packed bytes, including the header, of the object with the i-th id. ok is false if the
// index has no checksums (version 1).
func (x *Index) CRC(i int) (sum uint32, ok bool) {
	if x.sums == nil {
		return 0, false
	}
	return binary.BigEndian.Uint32(x.sums[4*i:]), true
}

// FindOffset returns the offset of an object in the pack, and whether the pack contains the object.
func (x *Index) FindOffset(id oid.ID) (offset int64, ok bool) {
	i, ok := x.Find(id)
	if !ok {
		return 0, false
	}
	return x.Offset(i), true
}

// Find returns the position of an id among the sorted ids of the index, and whether the index contains it.
func (x *Index) Find(id oid.ID) (i int, ok bool) {
	want := id.Bytes()
	if len(want) != x.idSize {
		return 0, false
	}
	low := 0
	if first := int(want[0]); first > 0 {
		low = int(binary.BigEndian.Uint32(x.fanout[4*(first-1):]))
	}
	high := int(binary.BigEndian.Uint32(x.fanout[4*int(want[0]):]))
	start := binary.BigEndian.Uint64(want)
	i = low + sort.Search(high-low, func(i int) bool {
		other := x.id(low + i)
		if n := binary.BigEndian.Uint64(other); n != start {
			return n > start
		}
		return bytes.Compare(other, want) >= 0
	})
	return i, i < high && bytes.Equal(x.id(i), want)
}

// PackChecksum returns the checksum of the pack to which the index belongs, as the index records it.
func (x *Index) PackChecksum() []byte {
	end := len(x.raw) - x.idSize
	return x.raw[end-x.idSize : end]
}
