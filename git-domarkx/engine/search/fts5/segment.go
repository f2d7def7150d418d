package fts5

import "encoding/binary"

// pageSize is the usual size of a page of a segment, which the index has as its setting pgsz.
const pageSize = 4050

// mainIndex stands before each word, since the index may have others, of prefixes.
const mainIndex = '0'

// A segment writes words and their lists in ascending order to pages. A page has the place of the first row on
// it that continues a list, and the place of the index at its end, in two bytes each; then words and lists; then
// an index of the places where words begin.
type segment struct {
	page     func(number int64, data []byte) error // stores a page
	term     func(text []byte, page int64) error   // stores the shortest text by which to find a page
	number   int64                                 // of the page, from 1
	data     []byte
	index    []byte
	lastTerm int    // where the last word on the page begins
	last     []byte // the last word
	hasTerm  bool   // a word begins on the page
	hasRow   bool   // a word or a row begins on it
	err      error
}

func newSegment(page func(int64, []byte) error, term func([]byte, int64) error) *segment {
	s := &segment{page: page, term: term, number: 1, hasRow: true}
	s.data = make([]byte, 4, 2*pageSize)
	return s
}

// full reports whether n more bytes are too many for the page.
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

// begin writes a word.
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

// prefixed returns byte i of a word with mainIndex before it.
func prefixed(text []byte, i int) byte {
	if i == 0 {
		return mainIndex
	}
	return text[i-1]
}

// positions writes the size and positions of a row, on as many pages as it takes. A number is not
// divided.
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

// numbers returns the size of the numbers that fit, at least one.
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

// flush stores the page and begins the next one.
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

// finish stores the last page and returns the number of pages.
func (s *segment) finish() (int64, error) {
	if len(s.data) > 4 {
		s.flush()
	}
	return s.number - 1, s.err
}
