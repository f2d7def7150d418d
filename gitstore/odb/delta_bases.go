package odb

import (
	"encoding/binary"
	"math/bits"
)

// Samples are small objects that a pack has whole, the last of each kind. What is small
// has often more in common with others of its kind than with the document that it is from:
// who said it, and how that is written as JSON.
type deltaBases [64]*windowBase

// maxSampled is up to which size an object is small.
const maxSampled = 2 << 10

// delta appends to dst what makes content of a sample that it repeats for more than half.
// Else the base is nil, and content becomes a sample itself, if it is small.
func (s *deltaBases) delta(dst, content []byte) (delta []byte, base, own *windowBase) {
	if len(content) < minDelta || len(content) > maxSampled {
		return dst, nil, nil
	}
	sample := &s[kindOf(content)]
	own = &windowBase{size: len(content)}
	if b := *sample; b != nil {
		if !b.indexed {
			b.index()
		}
		if delta, found := b.appendDelta(dst, content); found == most {
			return delta, b, nil
		}
		own.windowSpace, b.windowSpace = b.windowSpace, windowSpace{}
	}
	own.content, own.indexed = append(own.content[:0], content...), false
	*sample = own
	return dst, nil, own
}

// kindOf returns the kind of an object of at least 32 bytes: what begins alike, and is
// about as large, is of one kind.
func kindOf(content []byte) int {
	sum := uint64(bits.Len(uint(len(content))))
	for at := 0; at < 32; at += 8 {
		sum = (sum ^ binary.LittleEndian.Uint64(content[at:])) * 0x9e3779b97f4a7c15
	}
	return int(sum >> 58)
}
