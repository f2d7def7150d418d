// Package deflate compresses small data into a zlib stream (RFC 1950 and 1951) with the fixed codes. A
// kilobyte hardly becomes smaller with codes of its own, because these have to be stored too, and computing
// them takes most of the time: klauspost/compress takes eight times as long (BenchmarkAppend).
package deflate

import (
	"encoding/binary"
	"hash/adler32"
	"math/bits"
	"sync"
)

// MaxSize limits the data, in bytes: matches may be as far back as its beginning.
const MaxSize = 32 << 10

const (
	minMatch = 4
	maxMatch = 258
	// hashBits is small, because the table is cleared for each stream.
	hashBits = 10
)

// Append appends data, at most MaxSize bytes, as a zlib stream, which has at most an eighth more bytes than
// the data, and eight.
func Append(dst, data []byte) []byte {
	w := writer{out: append(dst, 0x78, 0x01), codes: fixedCodes()} // zlib header, fastest level
	w.put(0b011, 3)                                                // the last block, with the fixed codes
	var places [1 << hashBits]uint16                               // hash of the next bytes → where they were, from 1
	literal := 0                                                   // start of the bytes that are not written yet
	for at, misses := 0, 0; at+minMatch <= len(data); {
		next := binary.LittleEndian.Uint32(data[at:])
		place := &places[next*0x9e3779b1>>(32-hashBits)]
		from := int(*place) - 1
		*place = uint16(at + 1)
		if from < 0 || binary.LittleEndian.Uint32(data[from:]) != next {
			at += 1 + misses>>5 // the longer nothing repeats, the more places are skipped
			misses++
			continue
		}
		n := minMatch
		for most := min(maxMatch, len(data)-at); n < most && data[from+n] == data[at+n]; n++ {
		}
		w.literals(data[literal:at])
		w.match(n, at-from)
		at += n
		literal, misses = at, 0
	}
	w.literals(data[literal:])
	w.put(0, 7) // end of the block
	for ; w.count > 0; w.count -= min(w.count, 8) {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
	return binary.BigEndian.AppendUint32(w.out, adler32.Checksum(data))
}

// A writer writes bits.
type writer struct {
	out   []byte
	codes *codes
	bits  uint64 // not written yet, the next one lowest
	count uint   // number of these, below 32
}

func (w *writer) put(bits uint64, count uint) {
	w.bits |= bits << w.count
	if w.count += count; w.count >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.bits))
		w.bits >>= 32
		w.count -= 32
	}
}

func (w *writer) literals(data []byte) {
	for ; len(data) >= 3; data = data[3:] {
		a, b, c := w.codes.literals[data[0]], w.codes.literals[data[1]], w.codes.literals[data[2]]
		w.put(uint64(a.bits)|uint64(b.bits)<<a.count|uint64(c.bits)<<(a.count+b.count), uint(a.count+b.count+c.count))
	}
	for _, b := range data {
		c := w.codes.literals[b]
		w.put(uint64(c.bits), uint(c.count))
	}
}

// match writes a repetition of n bytes that are distance bytes back.
func (w *writer) match(n, distance int) {
	c := w.codes.lengths[n]
	w.put(uint64(c.bits), uint(c.count))
	distance--
	symbol, extra := distance, 0
	if distance >= 4 {
		extra = bits.Len(uint(distance)) - 2
		symbol = 2*(extra+1) + distance>>extra&1
	}
	w.put(uint64(bits.Reverse8(uint8(symbol)))>>3|uint64(distance&(1<<extra-1))<<5, uint(5+extra))
}

// A code is the bits of a symbol, the first one lowest, with the extra bits of a length.
type code struct {
	bits  uint16
	count uint8
}

// codes are the fixed codes (RFC 1951, section 3.2.6).
type codes struct {
	literals [256]code
	lengths  [maxMatch + 1]code
}

var fixedCodes = sync.OnceValue(func() *codes {
	c := new(codes)
	for i := range c.literals {
		c.literals[i] = fixedCode(i)
	}
	for n, symbol := 3, 257; n < maxMatch; symbol++ {
		extra := 0
		if symbol >= 265 {
			extra = (symbol - 261) / 4
		}
		for i := 0; i < 1<<extra && n < maxMatch; i++ {
			f := fixedCode(symbol)
			c.lengths[n] = code{f.bits | uint16(i)<<f.count, f.count + uint8(extra)}
			n++
		}
	}
	c.lengths[maxMatch] = fixedCode(285)
	return c
})

func fixedCode(symbol int) code {
	value, count := 0, 8
	switch {
	case symbol < 144:
		value = 0x30 + symbol
	case symbol < 256:
		value, count = 0x190+symbol-144, 9
	case symbol < 280:
		value, count = symbol-256, 7
	default:
		value = 0xc0 + symbol - 280
	}
	return code{bits.Reverse16(uint16(value)) >> (16 - count), uint8(count)}
}
