package odb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/domarkx/domarkx"
)

// An index finds the offset of an object in a pack. It reads the memory of the
// .idx file in place; both versions of gitformat-pack(5) are understood.
type index struct {
	raw     []byte // whole file
	fanout  []byte // 256 big-endian counts
	n       int
	entries []byte // first id
	stride  int    // from one id to the next
	sums    []byte // first checksum of a packed object; nil in version 1
	offsets []byte // first 4-byte offset
	large   []byte // 8-byte offsets, version 2
}

const (
	idxFanout  = 256 * 4
	idxTrailer = 2 * len(ID{}) // the pack's checksum, then that of the index
)

// parseIndex checks the shape of an index: after it, find never leaves raw.
func parseIndex(raw []byte) (*index, error) {
	x := &index{raw: raw}
	version2 := bytes.HasPrefix(raw, []byte("\xfftOc"))
	body := 0
	if version2 {
		if len(raw) < 8 {
			return nil, errIndex("it is cut short")
		}
		if version := binary.BigEndian.Uint32(raw[4:]); version != 2 {
			return nil, fmt.Errorf("pack index: %w: version %d", domarkx.ErrUnsupported, version)
		}
		body = 8
	}
	if len(raw) < body+idxFanout+idxTrailer {
		return nil, errIndex("it is cut short")
	}
	x.fanout = raw[body : body+idxFanout]
	body += idxFanout
	for i, last := 0, uint32(0); i < 256; i++ {
		count := binary.BigEndian.Uint32(x.fanout[4*i:])
		if count < last {
			return nil, errIndex("its fan-out table does not grow")
		}
		last = count
	}
	count := int64(binary.BigEndian.Uint32(x.fanout[255*4:]))
	rest := int64(len(raw) - body - idxTrailer)
	if !version2 {
		if rest != 24*count {
			return nil, errIndex("its size does not fit its number of objects")
		}
		x.n, x.stride = int(count), 24
		if count > 0 {
			x.offsets, x.entries = raw[body:], raw[body+4:]
		}
		return x, nil
	}
	large := rest - 28*count
	if large < 0 || large%8 != 0 || large/8 > count {
		return nil, errIndex("its size does not fit its number of objects")
	}
	x.n, x.stride = int(count), 20
	x.entries = raw[body:]
	x.sums = raw[body+20*x.n:]
	x.offsets = raw[body+24*x.n:]
	x.large = raw[body+28*x.n : len(raw)-idxTrailer]
	return x, nil
}

func errIndex(what string) error {
	return fmt.Errorf("pack index: %w: %s", domarkx.ErrCorrupt, what)
}

// id returns the memory of the i-th id in ascending order.
func (x *index) id(i int) []byte { return x.entries[i*x.stride:][:20] }

// offset returns the place of the i-th object in the pack, -1 when it has none.
func (x *index) offset(i int) int64 {
	if x.stride == 24 {
		return int64(binary.BigEndian.Uint32(x.offsets[24*i:]))
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

// sum returns the CRC-32 of the i-th object as it is packed, with its header.
func (x *index) sum(i int) (sum uint32, ok bool) {
	if x.sums == nil {
		return 0, false
	}
	return binary.BigEndian.Uint32(x.sums[4*i:]), true
}

// find returns the offset of an object in the pack.
func (x *index) find(id ID) (offset int64, ok bool) {
	i, ok := x.search(id)
	if !ok {
		return 0, false
	}
	return x.offset(i), true
}

// search returns an object's place in the index.
func (x *index) search(id ID) (i int, ok bool) {
	low := 0
	if id[0] > 0 {
		low = int(binary.BigEndian.Uint32(x.fanout[4*(int(id[0])-1):]))
	}
	high := int(binary.BigEndian.Uint32(x.fanout[4*int(id[0]):]))
	i = low + sort.Search(high-low, func(i int) bool { return bytes.Compare(x.id(low+i), id[:]) >= 0 })
	return i, i < high && bytes.Equal(x.id(i), id[:])
}

// checksum returns the checksum that the pack must end with.
func (x *index) checksum() []byte {
	end := len(x.raw) - len(ID{})
	return x.raw[end-len(ID{}) : end]
}
