package odb

import (
	"bytes"
	"math/bits"
	"sync"
)

// A code is looked up by the next bits, first in a table that has the shorter ones,
// then, if that leads there, in one of those that follow it. An entry tells what the bits stand for:
//
//	bits 0 to 7    how many bits that are, with those that extend a length or distance
//	bits 8 to 11   how many of them are the code
//	bits 12 to 15  flags
//	bits 16 to 31  the literal, the base of the length or distance, or where a second table begins
//
// An entry of a second table counts without the bits that lead there. In what leads to
// one, bits 8 to 11 are the number of bits that choose in it.
const (
	isLiteral = 1 << 15
	isEnd     = 1 << 14 // of the block
	isTable   = 1 << 13
	isBad     = 1 << 12 // no code begins so
	isOther   = isEnd | isTable | isBad
)

const (
	litBits  = 11
	distBits = 8
	lenBits  = 7
	// What zlib's enough.c says that first and second tables take at most.
	maxLitTable  = 2342
	maxDistTable = 402
)

// A codes has the tables of a block.
type codes struct {
	lit  [maxLitTable]uint32
	dist [maxDistTable]uint32
}

// fixedCodes returns those that need no description.
var fixedCodes = sync.OnceValue(func() *codes {
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
	c := new(codes)
	fill(c.lit[:], litBits, lits[:], litSymbols()[:])
	fill(c.dist[:], distBits, dists[:], distSymbols()[:])
	return c
})

// The symbols of literals and lengths, of distances, and of the lengths of codes, as
// entries without a code.
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

// fill makes the table of a code, whose first part chooses by that number of bits.
// lengths are those of the symbols' codes, 0 for none. It reports whether they make
// a code that zlib takes: a complete one, one of a single bit, or none at all.
func fill(table []uint32, first uint, lengths []uint8, symbols []uint32) bool {
	var count, next [16]int
	for _, l := range lengths {
		count[l]++
	}
	count[0] = 0
	longest := uint(15)
	for longest > 0 && count[longest] == 0 {
		longest--
	}
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
		for i := range table[:1<<first] {
			table[i] = isBad
		}
	}
	// By length, and of one length by symbol: so codes are given.
	var sorted [288]uint16
	n := 0
	for symbol, l := range lengths {
		if l > 0 {
			sorted[next[l]] = uint16(symbol)
			next[l]++
			n++
		}
	}
	used, code := uint(1)<<first, uint(0)
	for i, symbol := range sorted[:n] {
		l := uint(lengths[symbol])
		if i > 0 {
			code = (code + 1) << (l - uint(lengths[sorted[i-1]]))
		}
		reversed := uint(bits.Reverse16(uint16(code)) >> (16 - l))
		e := symbols[symbol]
		if l <= first {
			e += uint32(l<<8 | l)
			for at := reversed; at < 1<<first; at += 1 << l {
				table[at] = e
			}
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
	return true
}
