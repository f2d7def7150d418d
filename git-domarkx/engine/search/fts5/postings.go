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

// add adds a word of a row. Rows are added in ascending order, and columns and positions of a row likewise.
func (p *postings) add(text []byte, row int64, column, position int) {
	w := p.word(text)
	before := len(w.list)
	if w.row != row {
		w.list = appendVarint(w.finish(), uint64(row-w.row))
		w.sized = int32(len(w.list))
		w.list = append(w.list, 0)
		w.row, w.column, w.position = row, 0, 0
	}
	if int(w.column) != column {
		w.list = appendVarint(append(w.list, 1), uint64(column))
		w.column, w.position = int32(column), 0
	}
	w.list = appendVarint(w.list, uint64(position-int(w.position)+2))
	w.position = int32(position)
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

// word returns the word with a text.
func (p *postings) word(text []byte) *word {
	const index = 1<<32 - 1
	hash := maphash.Bytes(p.seed, text)
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
	all := make([]*word, len(p.words))
	for i := range p.words {
		w := &p.words[i]
		w.list = w.finish()
		all[i] = w
	}
	slices.SortFunc(all, func(a, b *word) int { return bytes.Compare(p.text(a), p.text(b)) })
	return all
}
