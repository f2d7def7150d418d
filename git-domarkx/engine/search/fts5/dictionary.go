package fts5

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A key is a word, filled up with zeros, which words do not have; so keys are in the order of words. A longer word has
// its first sixteen bytes, and then longWord and the place of its text.
type key [3]uint64

// keySize is the size of the longest word that is its own key, and longWord is no byte of UTF-8.
const (
	keySize  = 24
	longWord = 0xff << 56
)

func (k key) isLong() bool { return k[2] >= longWord }

// A dictionary numbers words in the order in which they are first seen.
type dictionary struct {
	seed   key
	slots  []slot
	counts []uint32 // of the words, by number
	texts  []byte   // of long words
	byText map[string]key

	touched uint32 // makes reading have a result
}

// A slot of the hash table has a word and its number plus one.
type slot struct {
	key
	number uint32
}

// A lookup is a word to look up, with its hash.
type lookup struct {
	key
	hash uint64
}

func newDictionary() dictionary {
	return dictionary{seed: key{rand.Uint64(), rand.Uint64(), rand.Uint64()}, slots: make([]slot, 1<<10), byText: map[string]key{}}
}

// reset removes all words.
func (d *dictionary) reset() {
	clear(d.slots)
	clear(d.byText)
	d.counts, d.texts = d.counts[:0], d.texts[:0]
}

// hash returns the hash of a word, by multiplication with a secret as in wyhash.
func (d *dictionary) hash(k key) uint64 {
	a, b := bits.Mul64(k[0]^d.seed[0], k[1]^d.seed[1])
	a, b = bits.Mul64(a^k[2]^d.seed[2], b^d.seed[0])
	return a ^ b
}

// key returns the key of a word.
func (d *dictionary) key(text []byte) key {
	var start [keySize]byte
	copy(start[:], text)
	k := key{binary.BigEndian.Uint64(start[:]), binary.BigEndian.Uint64(start[8:]), binary.BigEndian.Uint64(start[16:])}
	if len(text) <= keySize {
		return k
	}
	if known, ok := d.byText[string(text)]; ok {
		return known
	}
	k[2] = longWord | uint64(len(d.texts))<<16 | uint64(len(text)) // at most maxWord
	d.texts = append(d.texts, text...)
	d.byText[string(text)] = k
	return k
}

// touch reads the slots of words. They are spread over much memory, and processors load from many places at once
// if none depends on another.
func (d *dictionary) touch(words []lookup) {
	mask, touched := uint64(len(d.slots)-1), uint32(0)
	for i := range words {
		touched |= d.slots[words[i].hash&mask].number
	}
	d.touched = touched
}

// number counts a word, and returns its number.
func (d *dictionary) number(l *lookup) uint32 {
	mask := uint64(len(d.slots) - 1)
	i := l.hash & mask
	for ; d.slots[i].number != 0; i = (i + 1) & mask {
		if s := &d.slots[i]; s.key == l.key {
			d.counts[s.number-1]++
			return s.number - 1
		}
	}
	d.counts = append(d.counts, 1)
	d.slots[i] = slot{l.key, uint32(len(d.counts))}
	if 4*len(d.counts) > 3*len(d.slots) {
		d.grow()
	}
	return uint32(len(d.counts) - 1)
}

func (d *dictionary) grow() {
	old := d.slots
	d.slots = make([]slot, 2*len(old))
	mask := uint64(len(d.slots) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		i := d.hash(s.key) & mask
		for d.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = s
	}
}

// text returns the text of a word, in a buffer.
func (d *dictionary) text(buffer []byte, k key) []byte {
	if k.isLong() {
		start := k[2] &^ longWord >> 16
		return d.texts[start : start+k[2]&(1<<16-1)]
	}
	for _, n := range k {
		buffer = binary.BigEndian.AppendUint64(buffer, n)
	}
	return bytes.TrimRight(buffer, "\x00")
}

// sorted returns the words in ascending order.
func (d *dictionary) sorted() []slot {
	all := make([]slot, 0, len(d.counts))
	for _, s := range d.slots {
		if s.number != 0 {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b slot) int {
		if a.key[0] != b.key[0] {
			return cmp.Compare(a.key[0], b.key[0])
		}
		if a.isLong() || b.isLong() {
			var first, second [keySize]byte
			return bytes.Compare(d.text(first[:0], a.key), d.text(second[:0], b.key))
		}
		return cmp.Or(cmp.Compare(a.key[1], b.key[1]), cmp.Compare(a.key[2], b.key[2]))
	})
	return all
}
