package delta

import (
	"encoding/binary"
	"math/bits"
)

// Recent contains small objects that were stored recently, one of each kind, as bases of deltas. A short message often
// has more in common with other messages of its kind (the same role and JSON structure) than with the document from
// which it comes.
type Recent [64]*Base

// maxRecent is the size in bytes up to which an object is small.
const maxRecent = 2 << 10

// Delta appends to dst a delta against the recent object of the same kind, if content shares more than half of its
// bytes with that object, and returns the object as base. Otherwise base is nil; and if content is small, it becomes
// the recent object of its kind, which the caller describes in own.
func (r *Recent) Delta(dst, content []byte) (delta []byte, base, own *Base) {
	if len(content) < minDelta || len(content) > maxRecent {
		return dst, nil, nil
	}
	recent := &r[kindOf(content)]
	own = &Base{Size: len(content)}
	if b := *recent; b != nil {
		if !b.indexed {
			b.index()
		}
		if delta, found := b.appendDelta(dst, content); found == most {
			return delta, b, nil
		}
		own.buffer, b.buffer = b.buffer, buffer{}
	}
	own.content, own.indexed = append(own.content[:0], content...), false
	*recent = own
	return dst, nil, own
}

// kindOf returns the kind of an object of at least 32 bytes. Two objects are of the same kind if their first 32 bytes
// are equal and their sizes are similar.
func kindOf(content []byte) int {
	sum := uint64(bits.Len(uint(len(content))))
	for at := 0; at < 32; at += 8 {
		sum = (sum ^ binary.LittleEndian.Uint64(content[at:])) * 0x9e3779b97f4a7c15
	}
	return int(sum >> 58)
}
