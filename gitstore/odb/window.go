package odb

import (
	"encoding/binary"
	"math/bits"
)

// A window is the content that was put into a pack most recently, as far as other
// content is likely to repeat it: a blob that does becomes a delta of it. Documents
// come before their parts, and both in order, so that what a blob repeats is looked
// for near what the one before it repeated.
type window struct {
	bases  []*windowBase // the oldest first
	near   int           // which of them was repeated last
	size   int           // of all, in bytes
	looked bool          // for a base, since the last was put
	failed int           // how often, since one was found or put
	free   []windowSpace
}

// A windowBase is a packed object that others may be deltas of. It is none itself,
// so that to read an object is to read two at most.
type windowBase struct {
	windowSpace
	at int64 // where it is in the pack, once it is written
}

// A windowSpace is the memory of a base, which is used again.
type windowSpace struct {
	content []byte
	blocks  []uint16 // by the hash of a block: its number from 1, the last of several
}

const (
	windowSize   = 8 << 20 // bytes
	windowBlock  = 8       // bytes that are looked for; a repetition of twice as many is always found
	minBase      = 16 << 10
	maxBase      = 1 << 19 // so that there are fewer blocks than 1<<16
	minDelta     = 64      // bytes of content below which it is not worth it
	maxFailed    = 64      // after which it is looked for no more
	maxCopy      = 1 << 16 // bytes of one instruction, as Git writes them
	maxInsertion = 127
)

// isBase reports whether content is so large that it is kept whole, and that others
// may be deltas of it.
func isBase(content []byte) bool { return len(content) >= minBase }

// put adds an object, unless it is too large.
func (w *window) put(content []byte) *windowBase {
	if len(content) >= maxBase {
		return nil
	}
	for w.size+len(content) > windowSize {
		w.size -= len(w.bases[0].content)
		w.free = append(w.free, w.bases[0].windowSpace)
		w.bases[0].windowSpace = windowSpace{}
		w.bases = w.bases[1:]
		w.near = max(0, w.near-1)
	}
	b := &windowBase{}
	if n := len(w.free); n > 0 {
		b.windowSpace, w.free = w.free[n-1], w.free[:n-1]
	}
	b.content = append(b.content[:0], content...)
	b.index()
	if w.looked { // a new document begins
		w.near, w.looked, w.failed = len(w.bases), false, 0
	}
	w.bases = append(w.bases, b)
	w.size += len(content)
	return b
}

// index notes where the blocks of the content are.
func (s *windowSpace) index() {
	if n := 1 << bits.Len(uint(len(s.content)/windowBlock)); n == len(s.blocks) {
		clear(s.blocks)
	} else {
		s.blocks = make([]uint16, n)
	}
	for at := 0; at+windowBlock <= len(s.content); at += windowBlock {
		s.blocks[s.hash(s.content[at:])] = uint16(at/windowBlock + 1)
	}
}

// hash returns where the block that b begins with is noted.
func (s *windowSpace) hash(b []byte) int {
	return int(binary.LittleEndian.Uint64(b)*0x9e3779b97f4a7c15>>40) & (len(s.blocks) - 1)
}

// find returns where the block that rest begins with is in the content; -1 when it is
// not noted.
func (s *windowSpace) find(rest []byte) int {
	at := (int(s.blocks[s.hash(rest)]) - 1) * windowBlock
	if at < 0 || string(s.content[at:at+windowBlock]) != string(rest[:windowBlock]) {
		return -1
	}
	return at
}

// delta appends to dst what makes content of a base, if one is at hand that it
// repeats for more than half; else the base is nil.
func (w *window) delta(dst, content []byte) ([]byte, *windowBase) {
	if len(w.bases) == 0 || len(content) < minDelta || w.failed > maxFailed {
		return dst, nil
	}
	w.looked = true
	for _, i := range [...]int{w.near, w.near + 1, w.near - 1, w.near + 2} {
		if i < 0 || i >= len(w.bases) {
			continue
		}
		if delta, ok := w.bases[i].appendDelta(dst, content); ok {
			w.near, w.failed = i, 0
			return delta, w.bases[i]
		}
	}
	w.failed++
	return dst, nil
}

// appendDelta appends what makes content of s, unless that is more than half of it.
func (s *windowSpace) appendDelta(dst, content []byte) ([]byte, bool) {
	limit := len(dst) + len(content)/2
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(len(s.content))), uint64(len(content)))
	literal, misses := 0, 0 // where what is not copied begins; positions passed since the last copy
	for at := 0; at+windowBlock <= len(content); {
		from := s.find(content[at:])
		if from < 0 {
			misses++
			at += 1 + misses>>6 // what goes on without a copy is looked at less closely
			if len(dst)+at-literal > limit {
				return dst, false
			}
			continue
		}
		length := windowBlock + common(s.content[from+windowBlock:], content[at+windowBlock:])
		for from > 0 && at > literal && s.content[from-1] == content[at-1] {
			from, at, length = from-1, at-1, length+1
		}
		dst = appendInsertions(dst, content[literal:at])
		dst = appendCopies(dst, from, length)
		at += length
		literal, misses = at, 0
	}
	dst = appendInsertions(dst, content[literal:])
	return dst, len(dst) <= limit
}

// common returns how many bytes a and b begin with in common.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func appendInsertions(dst, content []byte) []byte {
	for len(content) > 0 {
		n := min(len(content), maxInsertion)
		dst = append(append(dst, byte(n)), content[:n]...)
		content = content[n:]
	}
	return dst
}

func appendCopies(dst []byte, from, length int) []byte {
	for length > 0 {
		n := min(length, maxCopy)
		op := len(dst)
		dst = append(dst, 0x80)
		for i := range 4 {
			if c := byte(from >> (8 * i)); c != 0 {
				dst[op] |= 1 << i
				dst = append(dst, c)
			}
		}
		for i := range 2 { // none stands for maxCopy
			if c := byte(n >> (8 * i)); c != 0 {
				dst[op] |= 16 << i
				dst = append(dst, c)
			}
		}
		from, length = from+n, length-n
	}
	return dst
}
