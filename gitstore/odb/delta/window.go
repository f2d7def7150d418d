package delta

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// A Window finds bases of deltas among the large objects that were added to a pack. The segments of a document are
// added before its messages, and both in the order of the document. So the base of a message is probably near that of
// the previous message. The zero Window is empty and ready to use.
type Window struct {
	// Read returns the content of a base that is not in memory any more, or nil if it cannot be read. Read may be nil.
	Read func(*Base) []byte

	bases    []*Base
	near     int     // index of the base that was used last
	searched bool    // whether Delta was called since the last Put
	failed   int     // failed searches since the last success or Put
	tries    int     // number of failures after which searching stops
	held     []*Base // bases in memory, the oldest first
	size     int     // bytes of the bases in memory
	samples  samples
	sampled  []uint32 // samples of the content that is being added
}

// A Base is an object in the pack to which deltas may refer. [Window.Put] returns bases that are stored whole; those of
// [Window.PutSimilar] may be deltas against such bases. The writer of the pack sets the exported fields except Size.
type Base struct {
	buffer
	Size    int         // bytes of content
	Offset  int64       // offset of its entry in the pack
	Packed  [2]int64    // offsets of the start and the end of its compressed data
	Written atomic.Bool // whether the other fields are set and the data can be read
}

// A buffer is the memory for the content of a base. It is reused for others.
type buffer struct {
	content []byte
	blocks  []uint16 // hash of a block → its number, from 1; a later block replaces an earlier one with the same hash
	stride  int      // distance between blocks
	indexed bool     // whether blocks describes content
}

const (
	windowSize   = 4 << 20 // bytes in memory
	windowBlock  = 8       // bytes per block; a match of at least a block and a stride is always found
	maxBlocks    = 1<<16 - 1
	minBase      = 4 << 10
	maxBase      = 4 << 20
	minDelta     = 64      // smaller objects are not worth a delta
	maxFailed    = 64      // failures after which searching stops
	minTries     = 8       // smallest such number, after earlier searches have failed
	maxEscaped   = 128     // bytes in which backslashes are skipped
	maxCopy      = 1 << 16 // bytes of one copy instruction, as Git writes it
	maxInsertion = 127
)

// IsBase reports whether an object of a size in bytes can be a base: others are too small or too large.
func IsBase(size int64) bool { return size >= minBase && size <= maxBase }

// Put adds an object and returns it as a base, or nil if it cannot be one.
func (w *Window) Put(content []byte) *Base {
	if !IsBase(int64(len(content))) {
		return nil
	}
	b := &Base{Size: len(content)}
	w.hold(b, content)
	if w.searched || w.tries == 0 { // a new document begins, or its next segment
		if w.failed < w.tries || w.tries == 0 {
			w.tries = maxFailed
		} else {
			w.tries = max(w.tries/2, minTries)
		}
		w.near, w.searched, w.failed = len(w.bases), false, 0
	}
	w.bases = append(w.bases, b)
	return b
}

// hold stores the content of a base in memory, and drops the content of the oldest bases.
func (w *Window) hold(b *Base, content []byte) {
	var space buffer
	for len(w.held) > 0 && w.size+len(content) > windowSize {
		first := w.held[0]
		w.size -= first.Size
		space, first.buffer = first.buffer, buffer{}
		w.held = w.held[1:]
	}
	b.buffer = space
	b.content, b.indexed = append(b.content[:0], content...), false
	w.held = append(w.held, b)
	w.size += b.Size
}

// base returns the i-th base with its content in memory, or nil if its content is not available.
func (w *Window) base(i int) *Base {
	if i < 0 || i >= len(w.bases) {
		return nil
	}
	b := w.bases[i]
	if b.content == nil {
		if w.Read == nil || !b.Written.Load() {
			return nil
		}
		content := w.Read(b)
		if content == nil {
			return nil
		}
		w.hold(b, content)
	}
	if !b.indexed {
		b.index()
	}
	return b
}

// index fills the table of the content's blocks.
func (s *buffer) index() {
	s.stride = windowBlock
	for len(s.content)/s.stride > maxBlocks {
		s.stride *= 2
	}
	if n := 1 << bits.Len(uint(len(s.content)/s.stride)); n == len(s.blocks) {
		clear(s.blocks)
	} else {
		s.blocks = make([]uint16, n)
	}
	for at, n := 0, 1; at+windowBlock <= len(s.content); at, n = at+s.stride, n+1 {
		*slot(s.blocks, binary.LittleEndian.Uint64(s.content[at:])) = uint16(n)
	}
	s.indexed = true
}

// slot returns the entry of the table for a block.
func slot(blocks []uint16, block uint64) *uint16 {
	return &blocks[int(block*0x9e3779b97f4a7c15>>40)&(len(blocks)-1)]
}

// find looks for a block of the content in rest, up to the position end. It returns the positions of the block in rest
// and in the content; from is -1 if it finds none. The longer it finds none, the more positions it skips.
func (s *buffer) find(rest []byte, end int) (at, from int) {
	blocks, content := s.blocks, s.content
	for misses := 0; at < end; misses++ {
		block := binary.LittleEndian.Uint64(rest[at:])
		if n := int(*slot(blocks, block)); n > 0 {
			if from := (n - 1) * s.stride; binary.LittleEndian.Uint64(content[from:]) == block {
				return at, from
			}
		}
		at += 1 + misses>>6
	}
	return at, -1
}

// Delta appends to dst a delta against a base that shares more than half of the bytes of content, and returns the base.
// If it finds none, it returns dst and nil.
func (w *Window) Delta(dst, content []byte) ([]byte, *Base) {
	if len(w.bases) == 0 || len(content) < minDelta || w.failed >= w.tries {
		return dst, nil
	}
	w.searched = true
	for _, i := range [...]int{w.near, w.near + 1, w.near - 1, w.near + 2, w.near + 2 + w.failed} {
		b := w.base(i)
		if b == nil {
			continue
		}
		delta, found := b.appendDelta(dst, content)
		if found > none {
			w.near, w.failed = i, 0
		}
		switch found {
		case most:
			return delta, b
		case some: // other bases share less
			return dst, nil
		}
	}
	w.failed++
	return dst, nil
}

// A share says how much of an object is also in a base.
type share uint8

const (
	none share = iota
	some       // half or more of the part that was searched, but in small pieces
	most       // enough for a delta
)

// appendDelta appends a delta against s, unless the delta would be larger than half of content.
func (s *buffer) appendDelta(dst, content []byte) ([]byte, share) {
	limit := len(dst) + len(content)/2
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(len(s.content))), uint64(len(content)))
	literal := 0         // start of the bytes that are inserted, not copied
	copied, next := 0, 0 // bytes copied so far; end of the last copy in s
	for at := 0; at+windowBlock <= len(content); {
		from := -1
		if literal > 0 {
			var gap int
			if gap, from = s.resume(next, content[at:]); from >= 0 {
				at += gap
			}
		}
		if from < 0 {
			var gap int
			gap, from = s.find(content[at:], min(len(content)-windowBlock-at, limit-len(dst))+1)
			at += gap
		}
		if from < 0 {
			if len(dst)+at-literal <= limit {
				break
			}
			if copied >= at/2 && at > 2*minDelta {
				return dst, some
			}
			return dst, none
		}
		length := windowBlock + common(s.content[from+windowBlock:], content[at+windowBlock:])
		for from > 0 && at > literal && s.content[from-1] == content[at-1] {
			from, at, length = from-1, at-1, length+1
		}
		dst = appendInsertions(dst, content[literal:at])
		dst = appendCopies(dst, from, length)
		at += length
		literal = at
		copied, next = copied+length, from+length
	}
	dst = appendInsertions(dst, content[literal:])
	if len(dst) > limit {
		return dst, some
	}
	return dst, most
}

// resume checks whether rest continues as the content does at there, if additional backslashes are ignored: a message
// can contain JSON in JSON strings, where they are escaped. It returns the positions of the continuation in rest and in
// the content; from is -1 if there is none.
func (s *buffer) resume(there int, rest []byte) (gap, from int) {
	from = there
	same := 0
	for gap < len(rest) && from < len(s.content) && gap < maxEscaped {
		switch {
		case rest[gap] == s.content[from]:
			gap, from, same = gap+1, from+1, same+1
			if same == windowBlock {
				return gap - same, from - same
			}
		case rest[gap] == '\\':
			gap, same = gap+1, 0
		default:
			return 0, -1
		}
	}
	return 0, -1
}

// common returns the length of the common prefix of a and b.
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
		for i := range 2 { // a length without bytes stands for maxCopy
			if c := byte(n >> (8 * i)); c != 0 {
				dst[op] |= 16 << i
				dst = append(dst, c)
			}
		}
		from, length = from+n, length-n
	}
	return dst
}
