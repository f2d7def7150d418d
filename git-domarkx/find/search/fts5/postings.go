package fts5

import (
	"fmt"
	"slices"
)

// postings contains the words of some rows, with their positions, in memory. It stores each occurrence as the number of
// the word, and makes the lists of rows by word at the end.
type postings struct {
	words dictionary
	found []*[chunkSize]uint32 // the words in their order, in chunks, which are kept for the next rows
	size  int                  // number of words in found
	parts []part
	first int64 // the first row

	pending [together]lookup
	waiting int // number of words in pending
}

// A part is a column of a row: its place, with the position 0, and the index in found of its first word.
type part struct {
	at    place
	first int
}

// A place is an occurrence of a word: the row, counted from the first one, the column and the position.
type place uint64

const (
	positionBits = 32
	columnBits   = 3
	rowBits      = 64 - columnBits - positionBits
)

func (p place) row() uint64      { return uint64(p >> (columnBits + positionBits)) }
func (p place) column() uint64   { return uint64(p>>positionBits) & (1<<columnBits - 1) }
func (p place) position() uint64 { return uint64(p) & (1<<positionBits - 1) }

func newPostings() *postings { return &postings{words: newDictionary(1 << 11)} }

// newFewPostings returns postings for a few words, which take less memory.
func newFewPostings() *postings { return &postings{words: newDictionary(1 << 4)} }

// reset removes all words.
func (p *postings) reset() {
	p.words.reset()
	p.size, p.parts = 0, p.parts[:0]
}

// chunkSize is the number of occurrences in a chunk. It is a multiple of the number of words that are added together.
const chunkSize = (1 << 10) * together

// maxFound is the number of occurrences that are kept in memory. Making the lists takes 12 bytes for each.
const maxFound = 4 << 20

// full reports whether the words should be written before more are added.
func (p *postings) full() bool { return p.size >= maxFound }

// begin begins a column of a row. Rows, and columns in them, must be in ascending order.
func (p *postings) begin(row int64, column int) error {
	if len(p.parts) == 0 {
		p.first = row
	}
	if row-p.first >= 1<<rowBits || column >= 1<<columnBits {
		return fmt.Errorf("column %d of row %d is too far from row %d", column, row, p.first)
	}
	p.parts = append(p.parts, part{place(row-p.first)<<(columnBits+positionBits) | place(column)<<positionBits, p.size + p.waiting})
	return nil
}

// end ends a column and returns the number of words in it.
func (p *postings) end() int {
	first := p.parts[len(p.parts)-1].first
	n := p.size + p.waiting - first
	if n == 0 {
		p.parts = p.parts[:len(p.parts)-1]
	}
	return n
}

// add adds the word with a key, or a gap if the key is zero. The parts of the key are separate arguments: as an array,
// they would be stored one by one and then loaded at once, for which processors wait.
func (p *postings) add(k0, k1, k2 uint64) {
	if p.waiting == len(p.pending) {
		p.settle()
	}
	l := &p.pending[p.waiting]
	l.key[0], l.key[1], l.key[2] = k0, k1, k2
	l.hash = p.words.hash(k0, k1, k2)
	p.waiting++
}

// settle adds the pending words to the dictionary.
func (p *postings) settle() {
	pending := p.pending[:p.waiting]
	p.words.touch(pending)
	if p.size == len(p.found)*chunkSize {
		p.found = append(p.found, new([chunkSize]uint32))
	}
	chunk := p.found[p.size/chunkSize][p.size%chunkSize:]
	for i := range pending {
		chunk[i] = p.words.number(&pending[i])
	}
	p.size += len(pending)
	p.waiting = 0
}

// lists calls each with all words in ascending order, and the list of the rows of each word. For a row, the list
// contains the distance from the row before, twice the size of the positions, and the positions. A position is stored
// as its distance from the one before, plus two. Before the positions in a column other than the first stand a one and
// the number of the column. The arguments of each are valid until it returns.
func (p *postings) lists(each func(text, list []byte) error) error {
	p.settle()
	words := p.words.sorted()
	places := p.places(words)
	var list []byte
	text := make([]byte, 0, keySize)
	for i, w := range words {
		if i%together == 0 {
			p.words.touchSorted(words[i:min(i+together, len(words))])
		}
		s := &p.words.slots[w.slot]
		rest := places[:s.count]
		places = places[s.count:]
		if s.key == (key{}) {
			continue // gaps
		}
		list = list[:0]
		last := uint64(0) // the last row; 0 before the first one
		for len(rest) > 0 {
			row := rest[0].row() + uint64(p.first)
			list = append(appendVarint(list, row-last), 0)
			size := len(list)
			list, rest = appendPositions(list, rest)
			if n := uint64(len(list)-size) * 2; n < 1<<7 {
				list[size-1] = byte(n)
			} else {
				list = slices.Insert(list, size, appendVarint(nil, n)[1:]...)
				appendVarint(list[size-1:size-1], n)
			}
			last = row
		}
		if err := each(p.words.text(text, &s.key), list); err != nil {
			return err
		}
	}
	return nil
}

// appendPositions appends the positions of those places that are in the same row as the first one, and returns the
// others.
func appendPositions(list []byte, places []place) ([]byte, []place) {
	row, column, last := places[0].row(), uint64(0), uint64(0)
	for i, at := range places {
		if at.row() != row {
			return list, places[i:]
		}
		if c := at.column(); c != column {
			list = appendVarint(append(list, 1), c)
			column, last = c, 0
		}
		if n := at.position() - last + 2; n < 1<<7 {
			list = append(list, byte(n))
		} else {
			list = appendVarint(list, n)
		}
		last = at.position()
	}
	return list, nil
}

// places returns the places of all words, sorted by word.
func (p *postings) places(words []ordered) []place {
	next := make([]uint32, len(words)) // index at which the next place of a word is stored, by the word's number
	sum := uint32(0)
	for i, w := range words {
		if i%together == 0 {
			p.words.touchSorted(words[i:min(i+together, len(words))])
		}
		s := &p.words.slots[w.slot]
		next[s.number-1] = sum
		sum += s.count
	}
	places := make([]place, p.size)
	for i, part := range p.parts {
		last := p.size
		if i+1 < len(p.parts) {
			last = p.parts[i+1].first
		}
		at := part.at
		for first := part.first; first < last; {
			found := p.found[first/chunkSize][first%chunkSize:]
			found = found[:min(len(found), last-first)]
			for _, word := range found {
				places[next[word]] = at
				next[word]++
				at++
			}
			first += len(found)
		}
	}
	return places
}
