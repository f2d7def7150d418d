package inflate

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"
)

// A code is looked up by the next bits of the input: first in a table of the shorter codes, and for longer codes then
// in a second table to which the first one refers. An entry of a table consists of
//
//	bits 0 to 7    the number of bits to consume: code and extra bits of a length or distance
//	bits 8 to 11   the number of bits of the code
//	bits 12 to 15  flags
//	bits 16 to 31  the literal, the base of the length or distance, or the index of a second table
//
// Entries of a second table do not count the bits that index the first one. In an entry that refers to a second table,
// bits 8 to 11 are the number of bits that index that table.
const (
	isLiteral = 1 << 15
	isEnd     = 1 << 14 // end of the block
	isTable   = 1 << 13
	isBad     = 1 << 12 // no code begins with these bits
	isOther   = isEnd | isTable | isBad
)

const (
	litBits  = 11
	distBits = 8
	lenBits  = 7
	// The largest possible number of entries of first and second tables together, as enough.c of zlib computes it.
	maxLitTable  = 2342
	maxDistTable = 402
)

// tables contains the lookup tables of a block.
type tables struct {
	lit  [maxLitTable]uint32
	dist [maxDistTable]uint32
}

// fixedTables returns the tables of the fixed codes (RFC 1951, section 3.2.6).
var fixedTables = sync.OnceValue(func() *tables {
	var lits [288]uint8
	for i := range lits {
		switch {
		case i < 144, i >= 280:
			lits[i] = 8
		case i < 256:
			lits[i] = 9
		default:
			lits[i] = 7
		}
	}
	dists := [32]uint8(bytes.Repeat([]byte{5}, 32))
	c := new(tables)
	fill(c.lit[:], litBits, lits[:], litSymbols()[:])
	fill(c.dist[:], distBits, dists[:], distSymbols()[:])
	return c
})

// The alphabets of literals and lengths, of distances, and of code lengths, as table entries in which the bits of the
// code are not set yet.
var (
	litSymbols  = sync.OnceValue(makeLitSymbols)
	distSymbols = sync.OnceValue(makeDistSymbols)
	lenSymbols  = sync.OnceValue(makeLenSymbols)
)

func makeLitSymbols() *[288]uint32 {
	var e [288]uint32
	for i := range 256 {
		e[i] = isLiteral | uint32(i)<<16
	}
	e[256] = isEnd
	base := uint32(3)
	for i := 257; i < 285; i++ {
		extra := uint32(0)
		if i >= 265 {
			extra = uint32(i-261) / 4
		}
		e[i] = base<<16 | extra
		base += 1 << extra
	}
	e[285] = 258 << 16
	e[286], e[287] = isBad, isBad
	return &e
}

func makeDistSymbols() *[32]uint32 {
	var e [32]uint32
	base := uint32(1)
	for i := range 30 {
		extra := uint32(0)
		if i >= 4 {
			extra = uint32(i-2) / 2
		}
		e[i] = base<<16 | extra
		base += 1 << extra
	}
	e[30], e[31] = isBad, isBad
	return &e
}

func makeLenSymbols() *[19]uint32 {
	var e [19]uint32
	for i := range e {
		e[i] = uint32(i) << 16
	}
	return &e
}

// fill builds the lookup tables of a code. bits is the number of bits that index the first table. lengths are the code
// lengths of the symbols, 0 for unused ones. fill reports whether zlib accepts the code: it must be complete, or have
// one code of one bit, or be empty.
func fill(table []uint32, first uint, lengths []uint8, symbols []uint32) bool {
	var count, next [16]int
	for i := 0; i < len(lengths); i++ {
		if unusedFrom(lengths, i) {
			i += 7
			continue
		}
		count[lengths[i]]++
	}
	count[0] = 0
	longest := uint(15)
	for longest > 0 && count[longest] == 0 {
		longest--
	}
	filled := uint(1) // number of entries of the first table that are filled; the rest repeats them
	left := 1
	for l := 1; l <= 15; l++ {
		left = left<<1 - count[l]
		if left < 0 {
			return false
		}
		next[l] = next[l-1] + count[l-1]
	}
	if left > 0 {
		if longest > 1 {
			return false
		}
		table[0], table[1], filled = isBad, isBad, 2
	}
	// Codes are assigned by length, and within one length by symbol.
	var sorted [288]uint16
	n := 0
	for symbol := 0; symbol < len(lengths); symbol++ {
		if unusedFrom(lengths, symbol) {
			symbol += 7
			continue
		}
		if l := lengths[symbol]; l > 0 {
			sorted[next[l]] = uint16(symbol)
			next[l]++
			n++
		}
	}
	used, code := uint(1)<<first, uint(0)
	double := func(level uint) {
		for ; filled < 1<<min(level, first); filled *= 2 {
			copy(table[filled:2*filled], table[:filled])
		}
	}
	for i, symbol := range sorted[:n] {
		l := uint(lengths[symbol])
		if i > 0 {
			code = (code + 1) << (l - uint(lengths[sorted[i-1]]))
		}
		double(l)
		reversed := uint(bits.Reverse16(uint16(code)) >> (16 - l))
		e := symbols[symbol]
		if l <= first {
			table[reversed] = e + uint32(l<<8|l)
			count[l]--
			continue
		}
		prefix := reversed & (1<<first - 1)
		if reversed>>first == 0 { // the first code with this prefix, and the shortest
			size := l - first
			for room := 1 << size; size+first < longest; room <<= 1 {
				if room -= count[size+first]; room <= 0 {
					break
				}
				size++
			}
			if used+1<<size > uint(len(table)) {
				return false
			}
			table[prefix] = uint32(isTable | used<<16 | size<<8 | first)
			used += 1 << size
		}
		count[l]--
		start, size := uint(table[prefix]>>16), uint(table[prefix]>>8&15)
		e += uint32((l-first)<<8 | (l - first))
		for at := reversed >> first; at < 1<<size; at += 1 << (l - first) {
			table[start+at] = e
		}
	}
	double(first)
	return true
}

// unusedFrom reports whether eight symbols from one on are unused, as most literals are in a text.
func unusedFrom(lengths []uint8, first int) bool {
	return first%8 == 0 && len(lengths)-first >= 8 && binary.LittleEndian.Uint64(lengths[first:]) == 0
}
