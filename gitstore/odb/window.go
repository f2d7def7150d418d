package odb

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// A window is the content that was put into a pack, as far as other content is likely
// to repeat it: a blob that does becomes a delta of it. Pieces of documents come before
// their messages, and both in order, so that what a blob repeats is looked for near what
// the one before it repeated.
type window struct {
	bases  []*windowBase
	near   int           // which of them was repeated last
	looked bool          // for a base, since the last was put
	failed int           // how often none was found, since one was, or was put
	tries  int           // how often it may fail
	held   []*windowBase // those that are in memory, the one that came first first
	size   int           // of these, in bytes
	read   func(*windowBase) []byte
}

// A windowBase is a packed object that others may be deltas of. It is none itself,
// so that to read an object is to read two at most.
type windowBase struct {
	windowSpace
	size   int
	at     int64       // where it is in the pack
	packed [2]int64    // where its compressed bytes begin there, and end
	there  atomic.Bool // it was written
}

// A windowSpace is the memory of a base, which is used again.
type windowSpace struct {
	content []byte
	blocks  []uint16 // by the hash of a block: its number from 1, the last of several
	stride  int      // from one block to the next
	indexed bool     // blocks are those of the content
}

const (
	windowSize   = 4 << 20 // bytes in memory
	windowBlock  = 8       // bytes that are looked for; a repetition of as many and a stride is always found
	maxBlocks    = 1<<16 - 1
	minBase      = 4 << 10
	maxBase      = 4 << 20
	minDelta     = 64      // bytes of content below which it is not worth it
	maxFailed    = 64      // tries after which it is looked for no more
	minTries     = 8       // of them where those before were in vain
	maxEscaped   = 128     // bytes in which escapes are looked for
	maxCopy      = 1 << 16 // bytes of one instruction, as Git writes them
	maxInsertion = 127
)

// put adds an object, unless it is too small or too large.
func (w *window) put(content []byte) *windowBase {
	if len(content) < minBase || len(content) > maxBase {
		return nil
	}
	b := &windowBase{size: len(content)}
	w.hold(b, content)
	if w.looked || w.tries == 0 { // a new document begins, or its next part
		if w.failed < w.tries || w.tries == 0 {
			w.tries = maxFailed
		} else {
			w.tries = max(w.tries/2, minTries)
		}
		w.near, w.looked, w.failed = len(w.bases), false, 0
	}
	w.bases = append(w.bases, b)
	return b
}

// hold keeps the content of a base in memory, in place of others'.
func (w *window) hold(b *windowBase, content []byte) {
	var space windowSpace
	for len(w.held) > 0 && w.size+len(content) > windowSize {
		first := w.held[0]
		w.size -= first.size
		space, first.windowSpace = first.windowSpace, windowSpace{}
		w.held = w.held[1:]
	}
	b.windowSpace = space
	b.content, b.indexed = append(b.content[:0], content...), false
	w.held = append(w.held, b)
	w.size += b.size
}

// base returns one of the bases with its content; nil when that is not at hand.
func (w *window) base(i int) *windowBase {
	if i < 0 || i >= len(w.bases) {
		return nil
	}
	b := w.bases[i]
	if b.content == nil {
		if w.read == nil || !b.there.Load() {
			return nil
		}
		content := w.read(b)
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

// index notes where the blocks of the content are.
func (s *windowSpace) index() {
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

// slot returns where a block is noted.
func slot(blocks []uint16, block uint64) *uint16 {
	return &blocks[int(block*0x9e3779b97f4a7c15>>40)&(len(blocks)-1)]
}

// find looks in rest, up to an end, for a block that is in the content. It returns where both are;
// -1 when there is none. What goes on without one is looked at less and less closely.
func (s *windowSpace) find(rest []byte, end int) (at, from int) {
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

// delta appends to dst what makes content of a base, if one is at hand that it
// repeats for more than half; else the base is nil.
func (w *window) delta(dst, content []byte) ([]byte, *windowBase) {
	if len(w.bases) == 0 || len(content) < minDelta || w.failed >= w.tries {
		return dst, nil
	}
	w.looked = true
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
		case some: // others have less
			return dst, nil
		}
	}
	w.failed++
	return dst, nil
}

// A share is how much of some content a base has.
type share uint8

const (
	none share = iota
	some       // half of it or more, as far as was looked, but in small pieces
	most
)

// appendDelta appends what makes content of s, unless that is more than half of it.
func (s *windowSpace) appendDelta(dst, content []byte) ([]byte, share) {
	limit := len(dst) + len(content)/2
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(len(s.content))), uint64(len(content)))
	literal := 0         // where what is not copied begins
	copied, next := 0, 0 // so far; where in s the last copy ended
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

// resume returns where rest goes on with what stands there, and where that is; -1 when it
// does not. What may stand in rest besides are backslashes, for there is JSON in JSON.
func (s *windowSpace) resume(there int, rest []byte) (gap, from int) {
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
