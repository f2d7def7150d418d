package fts5

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A key identifies a word. It is the word, followed by zeros, which words do not contain: so keys are in the order of
// the words. The key of a word of more than keySize bytes is its first sixteen bytes, longWord, and the place of its
// text.
type key [3]uint64

// keySize is the size in bytes of the longest word that is its own key. longWord is a byte that UTF-8 does not contain.
const (
	keySize  = 24
	longWord = 0xff << 56
)

func (k key) isLong() bool { return k[2] >= longWord }

// A dictionary gives each different word a number, in the order in which the words are added.
type dictionary struct {
	seed   key
	slots  []slot
	size   int    // number of words
	texts  []byte // texts of long words
	byText map[string]key

	touched uint32 // result of touch, so that the compiler does not remove its reads
}

// A slot of the hash table contains a word, its number plus one, and how often it was added.
type slot struct {
	key
	number uint32
	count  uint32
}

// A lookup is a word to look up, and its hash.
type lookup struct {
	key
	hash uint64
}

func newDictionary(slots int) dictionary {
	return dictionary{seed: key{rand.Uint64(), rand.Uint64(), rand.Uint64()}, slots: make([]slot, slots), byText: map[string]key{}}
}

// reset removes all words.
func (d *dictionary) reset() {
	clear(d.slots)
	clear(d.byText)
	d.size, d.texts = 0, d.texts[:0]
}

// hash returns the hash of a key: the product with a secret number, as in wyhash.
func (d *dictionary) hash(k0, k1, k2 uint64) uint64 {
	a, b := bits.Mul64(k0^d.seed[0], k1^d.seed[1])
	a, b = bits.Mul64(a^k2^d.seed[2], b^d.seed[0])
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
	k[2] = longWord | uint64(len(d.texts))<<16 | uint64(len(text)) // size of the word, at most maxWord
	d.texts = append(d.texts, text...)
	d.byText[string(text)] = k
	return k
}

// together is the number of words whose slots touch reads at once.
const together = 64

// touch reads the slots of words, so that they are in the processor's cache afterwards. The slots are spread over much
// memory. Processors read many places at once if no read depends on another.
func (d *dictionary) touch(words []lookup) {
	mask, touched := uint64(len(d.slots)-1), uint32(0)
	for i := range words {
		touched |= d.slots[words[i].hash&mask].number
	}
	d.touched = touched
}

// touchSorted is like touch, for words of the dictionary.
func (d *dictionary) touchSorted(words []ordered) {
	touched := uint32(0)
	for i := range words {
		touched |= d.slots[words[i].slot].number
	}
	d.touched = touched
}

// number adds a word, counts it, and returns its number.
func (d *dictionary) number(l *lookup) uint32 {
	mask := uint64(len(d.slots) - 1)
	i := l.hash & mask
	for ; d.slots[i].number != 0; i = (i + 1) & mask {
		if s := &d.slots[i]; s.key == l.key {
			s.count++
			return s.number - 1
		}
	}
	number := uint32(d.size)
	d.slots[i] = slot{l.key, number + 1, 1}
	if d.size++; 4*d.size > 3*len(d.slots) {
		d.grow()
	}
	return number
}

// manySlots is the number of slots above which the table grows only by doubling, since more would be much memory.
const manySlots = 1 << 17

func (d *dictionary) grow() {
	old := d.slots
	factor := 4
	if len(old) >= manySlots {
		factor = 2
	}
	d.slots = make([]slot, factor*len(old))
	mask := uint64(len(d.slots) - 1)
	for j := range old {
		s := &old[j]
		if s.number == 0 {
			continue
		}
		i := d.hash(s.key[0], s.key[1], s.key[2]) & mask
		for d.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = *s
	}
}

// text returns the text of a word. It may use buffer.
func (d *dictionary) text(buffer []byte, k *key) []byte {
	if k.isLong() {
		start := k[2] &^ longWord >> 16
		return d.texts[start : start+k[2]&(1<<16-1)]
	}
	for _, n := range k {
		buffer = binary.BigEndian.AppendUint64(buffer, n)
	}
	n := len(buffer)
	for n > 0 && buffer[n-1] == 0 {
		n--
	}
	return buffer[:n]
}

// An ordered word is the first sixteen bytes of a word, and the index of its slot.
type ordered struct {
	start, next uint64
	slot        int
}

// sorted returns all words in ascending order.
func (d *dictionary) sorted() []ordered {
	all := make([]ordered, 0, d.size)
	for i := range d.slots {
		if s := &d.slots[i]; s.number != 0 {
			all = append(all, ordered{s.key[0], s.key[1], i})
		}
	}
	all = sortedByStart(all)
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].start == all[i].start {
			end++
		}
		if end-i > 1 {
			slices.SortFunc(all[i:end], d.compare)
		}
		i = end
	}
	return all
}

// compare compares words whose first eight bytes are equal.
func (d *dictionary) compare(a, b ordered) int {
	if a.next != b.next {
		return cmp.Compare(a.next, b.next)
	}
	first, second := &d.slots[a.slot].key, &d.slots[b.slot].key
	if first.isLong() || second.isLong() {
		var buffer, other [keySize]byte
		return bytes.Compare(d.text(buffer[:0], first), d.text(other[:0], second))
	}
	return cmp.Compare(first[2], second[2])
}

// fewWords is the number of words up to which comparing is faster than sortedByStart.
const fewWords = 1 << 8

// sortedByStart sorts words by their first bytes with a radix sort, from the last byte to the first. For many words
// this takes less time than comparing.
func sortedByStart(all []ordered) []ordered {
	if len(all) < fewWords {
		slices.SortFunc(all, func(a, b ordered) int { return cmp.Compare(a.start, b.start) })
		return all
	}
	var counts [8][256]uint32
	for _, o := range all {
		for i := range counts {
			counts[i][byte(o.start>>(8*i))]++
		}
	}
	other := make([]ordered, len(all))
	for i := range counts {
		next, sum := &counts[i], uint32(0)
		for c, n := range next {
			next[c] = sum
			sum += n
		}
		for _, o := range all {
			c := byte(o.start >> (8 * i))
			other[next[c]] = o
			next[c]++
		}
		all, other = other, all
	}
	return all
}
