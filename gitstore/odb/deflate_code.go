package odb

import (
	"math/bits"
	"slices"
)

// A deflateCode is the Huffman codes of a block (RFC 1951, section 3.2), and the header that tells them.
type deflateCode struct {
	literals  [286]deflateSymbol // and lengths of matches
	distances [30]deflateSymbol

	header   []byte // the bits that a block begins with, as far as they fill bytes
	rest     uint64 // those behind
	restBits int

	heap  []huffmanNode
	order []int
}

type deflateSymbol struct {
	count uint32 // how often it occurs
	code  uint16 // the bits, the first the lowest
	bits  uint8
}

const (
	longestCode     = 15
	longestCodeCode = 7 // of a code for lengths of codes
)

// make makes the codes that suit the counts, and the header.
func (c *deflateCode) make() {
	for i := range 2 { // a code of one symbol is none that all readers take
		c.distances[i].count++
		c.literals[i].count++
	}
	c.assign(c.literals[:], longestCode)
	c.assign(c.distances[:], longestCode)
	c.writeHeader()
}

// A huffmanNode is a symbol or two nodes together.
type huffmanNode struct {
	count       uint32
	left, right int16 // the index of nodes; left is -1 for a symbol
}

// assign gives symbols that occur a code of at most that many bits: a Huffman code, or where that
// has longer ones, one for counts that differ less.
func (c *deflateCode) assign(symbols []deflateSymbol, longest int) {
	c.order = c.order[:0]
	for i := range symbols {
		symbols[i].bits = 0
		if symbols[i].count > 0 {
			c.order = append(c.order, i)
		}
	}
	slices.SortStableFunc(c.order, func(a, b int) int { return int(symbols[a].count) - int(symbols[b].count) })
	for !c.measure(symbols, longest) {
		for _, i := range c.order { // which stay in order
			symbols[i].count = symbols[i].count/2 + 1
		}
	}
	canonical(symbols)
}

// measure finds out how long the codes are, and reports whether that is not too long.
func (c *deflateCode) measure(symbols []deflateSymbol, longest int) bool {
	nodes := c.heap[:0]
	for _, i := range c.order {
		nodes = append(nodes, huffmanNode{symbols[i].count, -1, int16(i)})
	}
	n := len(nodes)
	symbol, pair := 0, n // the rarest that are not in a pair yet
	rarest := func() int16 {
		if pair == len(nodes) || symbol < n && nodes[symbol].count <= nodes[pair].count {
			symbol++
			return int16(symbol - 1)
		}
		pair++
		return int16(pair - 1)
	}
	for range n - 1 {
		left := rarest()
		right := rarest()
		nodes = append(nodes, huffmanNode{nodes[left].count + nodes[right].count, left, right})
	}
	c.heap = nodes
	for i := range nodes { // from now on, count is the depth
		nodes[i].count = 0
	}
	for i := len(nodes) - 1; i >= n; i-- {
		nodes[nodes[i].left].count = nodes[i].count + 1
		nodes[nodes[i].right].count = nodes[i].count + 1
	}
	for _, node := range nodes[:n] {
		if node.count > uint32(longest) {
			return false
		}
		symbols[node.right].bits = uint8(node.count)
	}
	return true
}

// canonical makes the codes of their lengths.
func canonical(symbols []deflateSymbol) {
	var next [longestCode + 2]uint16
	for _, s := range symbols {
		if s.bits > 0 {
			next[s.bits+1]++
		}
	}
	for n := 1; n < len(next); n++ {
		next[n] = (next[n] + next[n-1]) << 1
	}
	for i := range symbols {
		if s := &symbols[i]; s.bits > 0 {
			s.code = bits.Reverse16(next[s.bits]) >> (16 - s.bits)
			next[s.bits]++
		}
	}
}

// How lengths of codes are told: by themselves, or by one of these with bits behind it.
const (
	lengthAgain  = 16 // the one before, 3 to 6 times
	zeros        = 17 // 3 to 10 times
	manyZeros    = 18 // 11 to 138 times
	lengthsCodes = 19
)

// codeOrder is the order in which the lengths of the codes for lengths are told.
var codeOrder = [lengthsCodes]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// A lengthRun tells lengths of codes.
type lengthRun struct{ symbol, extra, extraBits int }

// runLength returns how many of the lengths are told at once, behind the one before them.
func runLength(lengths []uint8, before int) (lengthRun, int) {
	same := 1
	for same < len(lengths) && lengths[same] == lengths[0] {
		same++
	}
	switch {
	case lengths[0] == 0 && same >= 11:
		same = min(same, 138)
		return lengthRun{manyZeros, same - 11, 7}, same
	case lengths[0] == 0 && same >= 3:
		return lengthRun{zeros, same - 3, 3}, same
	case int(lengths[0]) == before && same >= 3:
		same = min(same, 6)
		return lengthRun{lengthAgain, same - 3, 2}, same
	}
	return lengthRun{int(lengths[0]), 0, 0}, 1
}

// writeHeader writes that this is the last block, its kind, and the codes.
func (c *deflateCode) writeHeader() {
	var lengths []uint8
	literals, distances := told(c.literals[:], endOfBlock+1), told(c.distances[:], 1)
	for _, s := range slices.Concat(c.literals[:literals], c.distances[:distances]) {
		lengths = append(lengths, s.bits)
	}
	var runs []lengthRun
	var codes [lengthsCodes]deflateSymbol
	for before := -1; len(lengths) > 0; {
		run, n := runLength(lengths, before)
		runs = append(runs, run)
		codes[run.symbol].count++
		before, lengths = int(lengths[0]), lengths[n:]
	}
	codes[0].count++ // as in make
	codes[lengthAgain].count++
	c.assign(codes[:], longestCodeCode)
	inOrder := make([]deflateSymbol, lengthsCodes)
	for i, symbol := range codeOrder {
		inOrder[i] = codes[symbol]
	}
	inOrder = inOrder[:told(inOrder, 4)]
	w := bitWriter{out: c.header[:0]}
	w.put(1|2<<1, 3)
	w.put(uint64(literals-endOfBlock-1), 5)
	w.put(uint64(distances-1), 5)
	w.put(uint64(len(inOrder)-4), 4)
	for _, s := range inOrder {
		w.put(uint64(s.bits), 3)
	}
	for _, run := range runs {
		s := &codes[run.symbol]
		w.put(uint64(s.code)|uint64(run.extra)<<s.bits, int(s.bits)+run.extraBits)
	}
	for ; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.waiting))
		w.waiting >>= 8
	}
	c.header, c.rest, c.restBits = w.out, w.waiting, w.n
}

// told returns how many codes are told, at least so many: all up to the last that there is.
func told(symbols []deflateSymbol, least int) int {
	n := len(symbols)
	for n > least && symbols[n-1].bits == 0 {
		n--
	}
	return n
}
