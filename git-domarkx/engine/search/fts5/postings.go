package fts5

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// postings are the words of some rows with their positions, in memory.
type postings struct {
	seed  maphash.Seed
	slots []uint64 // a hash table: part of the hash of a word, and its index in words plus one
	words []word
	texts []byte // of the words
	size  int    // of the lists

	pending []occurrence // that were not added to words yet
	letters []byte       // of their words
	touched int64
}

// An occurrence is a word at its place in a row.
type occurrence struct {
	hash     uint64
	row      int64
	start    int32 // of its letters
	length   int32
	column   int32
	position int32
}

// A word has a list of the rows with it. For each row the list has the distance from the row before,
// twice the size of the positions, and the positions, as distances plus two; a one and a number stand before
// positions in another column than the first.
type word struct {
	list     []byte
	text     int // where it begins in texts
	row      int64
	position int32
	sized    int32 // where the size of the last positions is in list
	length   int32
	column   int32
}

// wordSize is the memory for a word, without its list.
const wordSize = 96

func newPostings() *postings {
	return &postings{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<12)}
}

// reset removes all words.
func (p *postings) reset() {
	clear(p.slots)
	clear(p.words)
	p.words, p.texts, p.size = p.words[:0], p.texts[:0], 0
}

// memory returns about how much memory the words take.
func (p *postings) memory() int { return p.size + len(p.words)*wordSize + len(p.texts) }

// maxPending is the size of the letters that are pending, with which caches of processors hold them.
const maxPending = 128 << 10

// add adds a word of a row. Rows, and columns and positions in them, are in ascending order.
func (p *postings) add(text []byte, row int64, column, position int) {
	start := len(p.letters)
	p.letters = append(p.letters, text...)
	p.pending = append(p.pending, occurrence{hash: maphash.Bytes(p.seed, text), row: row, start: int32(start), length: int32(len(text)), column: int32(column), position: int32(position)})
	if len(p.letters) >= maxPending {
		p.settle()
	}
}

// settle adds the pending occurrences. Words are spread over much memory. So for a few occurrences at a time, loops read
// the places that are changed then: processors load from many places at once if none depends on another.
func (p *postings) settle() {
	for chunk := range slices.Chunk(p.pending, 64) {
		mask := uint64(len(p.slots) - 1)
		var words [64]*word
		for i := range chunk {
			if slot := p.slots[chunk[i].hash&mask]; slot != 0 {
				words[i] = &p.words[slot&index-1]
			}
		}
		for _, w := range words[:len(chunk)] {
			if w != nil {
				p.touched += w.row
			}
		}
		for _, w := range words[:len(chunk)] {
			if w != nil && len(w.list) > 0 {
				p.touched += int64(w.list[len(w.list)-1])
			}
		}
		for i := range chunk {
			p.addOne(&chunk[i])
		}
	}
	p.pending, p.letters = p.pending[:0], p.letters[:0]
}

func (p *postings) addOne(o *occurrence) {
	w := p.word(p.letters[o.start:o.start+o.length], o.hash)
	before := len(w.list)
	if w.row != o.row {
		w.list = appendVarint(w.finish(), uint64(o.row-w.row))
		w.sized = int32(len(w.list))
		w.list = append(w.list, 0)
		w.row, w.column, w.position = o.row, 0, 0
	}
	if w.column != o.column {
		w.list = appendVarint(append(w.list, 1), uint64(o.column))
		w.column, w.position = o.column, 0
	}
	w.list = appendVarint(w.list, uint64(o.position-w.position+2))
	w.position = o.position
	p.size += len(w.list) - before
}

// finish returns the list after the size of its last positions was stored.
func (w *word) finish() []byte {
	if w.row == 0 {
		return w.list
	}
	at := int(w.sized)
	n := uint64(len(w.list)-at-1) * 2
	if n < 1<<7 {
		w.list[at] = byte(n)
		return w.list
	}
	var size [9]byte
	return slices.Replace(w.list, at, at+1, appendVarint(size[:0], n)...)
}

// index is the part of a slot that is not the hash.
const index = 1<<32 - 1

// word returns the word with a text.
func (p *postings) word(text []byte, hash uint64) *word {
	mask := uint64(len(p.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := p.slots[i]
		if slot == 0 {
			break
		}
		if slot&^index == hash&^index {
			w := &p.words[slot&index-1]
			if bytes.Equal(p.texts[w.text:w.text+int(w.length)], text) {
				return w
			}
		}
	}
	if 2*len(p.words) >= len(p.slots) {
		p.grow()
	}
	p.words = append(p.words, word{text: len(p.texts), length: int32(len(text))})
	p.texts = append(p.texts, text...)
	p.insert(hash, len(p.words))
	return &p.words[len(p.words)-1]
}

func (p *postings) insert(hash uint64, number int) {
	mask := uint64(len(p.slots) - 1)
	i := hash & mask
	for p.slots[i] != 0 {
		i = (i + 1) & mask
	}
	p.slots[i] = hash>>32<<32 | uint64(number)
}

func (p *postings) grow() {
	p.slots = make([]uint64, 2*len(p.slots))
	for i := range p.words {
		p.insert(maphash.Bytes(p.seed, p.text(&p.words[i])), i+1)
	}
}

func (p *postings) text(w *word) []byte { return p.texts[w.text : w.text+int(w.length)] }

// sorted returns the words in ascending order, with finished lists.
func (p *postings) sorted() []*word {
	p.settle()
	all := make([]*word, len(p.words))
	for i := range p.words {
		w := &p.words[i]
		w.list = w.finish()
		all[i] = w
	}
	slices.SortFunc(all, func(a, b *word) int { return bytes.Compare(p.text(a), p.text(b)) })
	return all
}
