package fts5

import "encoding/binary"

// pageSize is the usual size in bytes of a page of a segment. The index has the same value as its setting pgsz.
const pageSize = 4050

// mainIndex is the byte before each word, which distinguishes the main index from prefix indexes.
const mainIndex = '0'

// A segment writes words and their lists, in ascending order, to pages. A page begins with two numbers of two bytes:
// the offset of the first row on the page that continues the list of an earlier page, and the offset of the index at
// the end. Words and lists follow, and then the index, which contains the offsets at which words begin.
type segment struct {
	page     func(number int64, data []byte) error // is called with each page
	term     func(text []byte, page int64) error   // is called with the shortest text by which a page can be found
	number   int64                                 // number of the page, from 1
	data     []byte
	index    []byte
	lastTerm int    // offset of the last word on the page
	last     []byte // the last word
	hasTerm  bool   // whether a word begins on the page
	hasRow   bool   // whether a word or a row begins on the page
	err      error
}

func newSegment(page func(int64, []byte) error, term func([]byte, int64) error) *segment {
	s := &segment{page: page, term: term, number: 1, hasRow: true}
	s.data = make([]byte, 4, 2*pageSize)
	return s
}

// full reports whether the page has no space for n more bytes.
func (s *segment) full(n int) bool { return len(s.data)+len(s.index)+n > pageSize }

// add writes a word with its list.
func (s *segment) add(text, list []byte) error {
	s.begin(text)
	if !s.full(len(list) + 1) {
		s.data = append(s.data, list...)
		return s.err
	}
	row, previous := uint64(0), uint64(0)
	for len(list) > 0 && s.err == nil {
		delta, n := varint(list)
		row += delta
		if list = list[n:]; s.hasRow {
			s.data = appendVarint(s.data, row-previous)
		} else {
			binary.BigEndian.PutUint16(s.data, uint16(len(s.data)))
			s.data, s.hasRow = appendVarint(s.data, row), true
		}
		previous = row
		size, n := varint(list)
		end := n + int(size/2)
		s.positions(list[:end])
		list = list[end:]
	}
	return s.err
}

// begin writes the beginning of a word's entry: the word.
func (s *segment) begin(text []byte) {
	if s.full(len(text)+4) && len(s.data) > 4 {
		s.flush()
	}
	s.index = appendVarint(s.index, uint64(len(s.data)-s.lastTerm))
	s.lastTerm = len(s.data)
	shared := 0
	for n := min(len(text)+1, len(s.last)); shared < n && s.last[shared] == prefixed(text, shared); {
		shared++
	}
	s.last = append(append(s.last[:0], mainIndex), text...)
	word := s.last
	if s.hasTerm {
		s.data = appendVarint(s.data, uint64(shared))
	} else {
		separator := word[:min(len(word), shared+1)]
		if s.number == 1 {
			separator = nil
		}
		if s.err == nil {
			s.err = s.term(separator, s.number)
		}
		shared = 0
	}
	s.data = append(appendVarint(s.data, uint64(len(word)-shared)), word[shared:]...)
	s.hasTerm, s.hasRow = true, true
}

// prefixed returns byte i of mainIndex followed by a word.
func prefixed(text []byte, i int) byte {
	if i == 0 {
		return mainIndex
	}
	return text[i-1]
}

// positions writes the size and the positions of a row, on as many pages as necessary. It does not divide a number
// between pages.
func (s *segment) positions(list []byte) {
	if !s.full(len(list)) {
		s.data = append(s.data, list...)
		return
	}
	for len(list) > 0 {
		n := len(list)
		if s.full(n) {
			n = numbers(list, pageSize-len(s.data)-len(s.index))
		}
		s.data = append(s.data, list[:n]...)
		list = list[n:]
		if s.full(1) {
			s.flush()
		}
	}
}

// numbers returns the size of the numbers at the beginning of data that fit on the page, at least one number.
func numbers(list []byte, space int) int {
	_, size := varint(list)
	for {
		_, n := varint(list[size:])
		if n == 0 || size+n > space {
			return size
		}
		size += n
	}
}

// flush passes the page to store and begins the next one.
func (s *segment) flush() {
	binary.BigEndian.PutUint16(s.data[2:], uint16(len(s.data)))
	if s.hasTerm {
		s.data = append(s.data, s.index...)
	}
	if s.err == nil {
		s.err = s.page(s.number, s.data)
	}
	s.number++
	s.data, s.index, s.lastTerm = append(s.data[:0], 0, 0, 0, 0), s.index[:0], 0
	s.hasTerm, s.hasRow = false, false
}

// finish writes the last page and returns the number of pages.
func (s *segment) finish() (int64, error) {
	if len(s.data) > 4 {
		s.flush()
	}
	return s.number - 1, s.err
}
