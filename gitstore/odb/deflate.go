package odb

import (
	"encoding/binary"
	"hash/adler32"
	"math/bits"
)

// A smallDeflater compresses the small objects of a group with one Huffman code for all of
// them (RFC 1951, section 3.2.7). To make a code of its own for each takes longer than
// everything else. First each is given to find, then, in the same order, to append.
type smallDeflater struct {
	recent [1 << recentBits]uint32 // by the hash of four bytes: where they were last, counted from the first object on
	passed uint32                  // bytes of the objects that were given to find
	tokens []token
	ends   []int // of the objects' tokens
	packed int   // objects that were given to append
	code   deflateCode
}

// A token is how many bytes are told as they are, or with isMatch how many, less the shortest
// match, come again from how far back.
type token uint32

const (
	isMatch   token = 1 << 31
	matchBits       = 16 // by which the length is shifted

	shortestMatch = 3 // that there is in the format
	leastMatch    = 4 // that is looked for
	longestMatch  = 258
	recentBits    = 11
	maxSmall      = 16 << 10 // of an object, in bytes
	endOfBlock    = 256
)

// reset begins a group.
func (d *smallDeflater) reset() {
	d.tokens, d.ends, d.packed = d.tokens[:0], d.ends[:0], 0
	clear(d.code.literals[:])
	clear(d.code.distances[:])
	if d.passed > 1<<31 {
		clear(d.recent[:])
		d.passed = 0
	}
}

// find finds out what in an object of at most maxSmall bytes comes again.
func (d *smallDeflater) find(data []byte) {
	start := d.passed + 1 // so that 0 is nowhere
	literal := 0
	for at := 0; at+leastMatch <= len(data); {
		word := binary.LittleEndian.Uint32(data[at:])
		slot := &d.recent[word*0x9e3779b1>>(32-recentBits)]
		from := int(*slot) - int(start)
		*slot = start + uint32(at)
		if from < 0 || binary.LittleEndian.Uint32(data[from:]) != word {
			at += 1 + (at-literal)>>6
			continue
		}
		length := leastMatch + common(data[from+leastMatch:], data[at+leastMatch:min(len(data), at+longestMatch)])
		d.literals(data[literal:at])
		d.match(length, at-from)
		at += length
		literal = at
		if at+2 <= len(data) {
			d.recent[binary.LittleEndian.Uint32(data[at-2:])*0x9e3779b1>>(32-recentBits)] = start + uint32(at-2)
		}
	}
	d.literals(data[literal:])
	d.code.literals[endOfBlock].count++
	d.ends = append(d.ends, len(d.tokens))
	d.passed += uint32(len(data))
}

func (d *smallDeflater) literals(data []byte) {
	if len(data) == 0 {
		return
	}
	d.tokens = append(d.tokens, token(len(data)))
	for _, c := range data {
		d.code.literals[c].count++
	}
}

func (d *smallDeflater) match(length, back int) {
	t := isMatch | token(length-shortestMatch)<<matchBits | token(back)
	d.tokens = append(d.tokens, t)
	symbol, _, _ := t.length()
	d.code.literals[symbol].count++
	symbol, _, _ = t.distance()
	d.code.distances[symbol].count++
}

// length returns the symbol of a match's length, and the bits behind it.
func (t token) length() (symbol int, extra uint64, n int) {
	length := uint64(t&^isMatch) >> matchBits
	switch {
	case length < 8:
		return endOfBlock + 1 + int(length), 0, 0
	case length == longestMatch-shortestMatch:
		return 285, 0, 0
	}
	n = bits.Len64(length) - 3
	return endOfBlock + 1 + 4*(n+1) + int(length>>n)&3, length & (1<<n - 1), n
}

// distance returns the symbol of how far back a match is, and the bits behind it.
func (t token) distance() (symbol int, extra uint64, n int) {
	back := uint64(t)&(1<<matchBits-1) - 1
	if back < 4 {
		return int(back), 0, 0
	}
	n = bits.Len64(back) - 2
	return 2*(n+1) + int(back>>n)&1, back & (1<<n - 1), n
}

// append appends the next object, compressed as one stream.
func (d *smallDeflater) append(out, data []byte) []byte {
	first := 0
	if d.packed == 0 {
		d.code.make()
	} else {
		first = d.ends[d.packed-1]
	}
	tokens := d.tokens[first:d.ends[d.packed]]
	d.packed++
	start := len(out)
	w := bitWriter{out: append(append(out, 0x78, 0x01), d.code.header...)}
	w.put(d.code.rest, d.code.restBits)
	at := 0
	for _, t := range tokens {
		if t&isMatch == 0 {
			w.putAll(data[at:at+int(t)], d.code.literals[:])
			at += int(t)
			continue
		}
		symbol, extra, n := t.length()
		s := &d.code.literals[symbol]
		w.put(uint64(s.code)|extra<<s.bits, int(s.bits)+n)
		symbol, extra, n = t.distance()
		s = &d.code.distances[symbol]
		w.put(uint64(s.code)|extra<<s.bits, int(s.bits)+n)
		at += int(t&^isMatch>>matchBits) + shortestMatch
	}
	s := &d.code.literals[endOfBlock]
	w.put(uint64(s.code), int(s.bits))
	out = w.end()
	if len(out)-start > len(data)+7 { // as large as store makes it, which is read faster
		return store(out[:start], data)
	}
	return binary.BigEndian.AppendUint32(out, adler32.Checksum(data))
}

// A bitWriter appends bits, the lowest first.
type bitWriter struct {
	out     []byte
	waiting uint64
	n       int // of the bits that wait
}

// put appends the n lowest bits, at most 32. The others are 0.
func (w *bitWriter) put(value uint64, n int) {
	w.waiting |= value << w.n
	if w.n += n; w.n >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.waiting))
		w.waiting >>= 32
		w.n -= 32
	}
}

// putAll appends the codes of bytes.
func (w *bitWriter) putAll(data []byte, symbols []deflateSymbol) {
	symbols = symbols[:256]
	out, waiting, n := w.out, w.waiting, uint(w.n)
	for ; len(data) >= 2; data = data[2:] { // together at most 30 bits
		a, b := symbols[data[0]], symbols[data[1]]
		waiting |= (uint64(a.code) | uint64(b.code)<<a.bits) << n
		if n += uint(a.bits) + uint(b.bits); n >= 32 {
			out = binary.LittleEndian.AppendUint32(out, uint32(waiting))
			waiting >>= 32
			n -= 32
		}
	}
	w.out, w.waiting, w.n = out, waiting, int(n)
	if len(data) > 0 {
		w.put(uint64(symbols[data[0]].code), int(symbols[data[0]].bits))
	}
}

// end fills the last byte and returns all.
func (w *bitWriter) end() []byte {
	for ; w.n > 0; w.n -= 8 {
		w.out = append(w.out, byte(w.waiting))
		w.waiting >>= 8
	}
	w.waiting, w.n = 0, 0
	return w.out
}
