package fts5

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// noRow is higher than each row.
const noRow = math.MaxInt64

// A segmentReader reads the words of a segment in order, and the rows of each word. See [segment] for the format of
// pages.
type segmentReader struct {
	reader *Reader
	record segmentRecord

	page     int64
	loaded   int           // how many pages were loaded
	pages    *sqlite3.Stmt // returns the following pages; nil if they are read one by one
	buffer   []byte        // bytes of the page
	data     []byte        // content of the page without its index
	index    []byte        // rest of the page's index: the distances of the words after nextTerm
	at       int           // offset after what was read
	nextTerm int           // offset of the next word; the end of data if that word is on a later page
	whole    bool          // whether the next word is the first one on the page, which is stored whole
	absolute bool          // whether the next row is the first one of the word or page, which is not stored as a distance

	word      []byte // the word, with mainIndex before it
	row       int64
	positions Positions
	divided   []byte // memory for positions from several pages
}

func newSegmentReader(r *Reader, record segmentRecord) *segmentReader {
	return &segmentReader{reader: r, record: record}
}

func (s *segmentReader) damaged() error {
	return fmt.Errorf("%w: page %d of segment %d", ErrDamaged, s.page, s.record[recordID])
}

// fewPages is the number of pages that are read one by one. Reading further ones with one statement takes less time.
const fewPages = 4

// read reads a page into the buffer. Pages are read in ascending order.
func (s *segmentReader) read(page int64) (err error) {
	id := int64(s.record[recordID])<<numberBits + page
	if s.loaded++; s.loaded <= fewPages {
		s.buffer, err = s.reader.read(id, s.buffer)
		return err
	}
	if s.pages == nil {
		if s.pages, err = s.reader.readFrom(id, id+int64(s.record[recordLast])-page); err != nil {
			return err
		}
	}
	found, err := s.pages.Step()
	if err != nil {
		return err
	}
	if !found || s.pages.Int(0) != id {
		return s.damaged()
	}
	s.buffer = s.pages.AppendBytes(s.buffer[:0], 1)
	return nil
}

// end ends reading. The reader of the index does so, too, later.
func (s *segmentReader) end() {
	if s.pages != nil {
		s.pages.Reset()
		s.reader.idle = append(s.reader.idle, s.pages)
		s.pages = nil
	}
}

// load loads a page.
func (s *segmentReader) load(page int64) (err error) {
	s.page = page
	if err = s.read(page); err != nil {
		return err
	}
	if len(s.buffer) < 4 {
		return s.damaged()
	}
	end := int(binary.BigEndian.Uint16(s.buffer[2:]))
	if end < 4 || end > len(s.buffer) {
		return s.damaged()
	}
	s.data, s.index = s.buffer[:end], s.buffer[end:]
	s.at, s.nextTerm, s.whole, s.absolute = 4, 0, true, true
	return s.findTerm()
}

// isLast reports whether the page is the last one.
func (s *segmentReader) isLast() bool { return s.page >= int64(s.record[recordLast]) }

// findTerm sets nextTerm to the next word on the page.
func (s *segmentReader) findTerm() error {
	if len(s.index) == 0 {
		s.nextTerm = len(s.data)
		return nil
	}
	n, size := varint(s.index)
	if size == 0 || n == 0 || n >= uint64(len(s.data)-s.nextTerm) {
		return s.damaged()
	}
	s.nextTerm, s.index = s.nextTerm+int(n), s.index[size:]
	if s.nextTerm < s.at {
		return s.damaged()
	}
	return nil
}

// number reads a number.
func (s *segmentReader) number() (uint64, error) {
	if s.at < len(s.data) && s.data[s.at] < 1<<7 {
		s.at++
		return uint64(s.data[s.at-1]), nil
	}
	n, size := varint(s.data[s.at:])
	if size == 0 {
		return 0, s.damaged()
	}
	s.at += size
	return n, nil
}

// seek moves to the first word that is not less than another one, and reports whether there is one.
func (s *segmentReader) seek(word []byte) (bool, error) {
	if s.record[recordLast] == 0 {
		return false, nil // the segment has no pages
	}
	page, err := s.reader.pageOf(s.record, word)
	if err == nil {
		err = s.load(page)
	}
	if err != nil {
		return false, err
	}
	for {
		if found, err := s.nextWord(); err != nil || !found || string(s.word) >= string(word) {
			return found, err
		}
	}
}

// nextWord moves to the next word, before its first row, and reports whether there is one.
func (s *segmentReader) nextWord() (bool, error) {
	for s.nextTerm == len(s.data) {
		if s.isLast() {
			return false, nil
		}
		if err := s.load(s.page + 1); err != nil {
			return false, err
		}
	}
	s.at = s.nextTerm
	shared := uint64(0)
	var err error
	if !s.whole {
		if shared, err = s.number(); err != nil {
			return false, err
		}
	}
	n, err := s.number()
	if err != nil {
		return false, err
	}
	if shared > uint64(len(s.word)) || n > uint64(len(s.data)-s.at) {
		return false, s.damaged()
	}
	s.word = append(s.word[:shared], s.data[s.at:s.at+int(n)]...)
	s.at += int(n)
	s.whole, s.absolute = false, true
	return true, s.findTerm()
}

// next moves to the next row of the word, and reports whether there is one.
func (s *segmentReader) next() (bool, error) {
	if s.at == s.nextTerm && s.at == len(s.data) && !s.isLast() {
		if err := s.load(s.page + 1); err != nil {
			return false, err
		}
	}
	if s.at == s.nextTerm {
		return false, nil
	}
	row, err := s.number()
	if err != nil {
		return false, err
	}
	size, err := s.number()
	if err != nil {
		return false, err
	}
	if !s.absolute {
		row += uint64(s.row)
	}
	if row >= noRow || !s.absolute && row <= uint64(s.row) || size&1 != 0 {
		return false, s.damaged()
	}
	s.row, s.absolute = int64(row), false
	return true, s.readPositions(size / 2)
}

// each calls f with the remaining rows of the word, and with the positions in them.
func (s *segmentReader) each(f func(row int64, at Positions)) error {
	for {
		more, err := s.next()
		if err != nil || !more {
			return err
		}
		if f(s.row, s.positions); s.absolute {
			continue
		}
		// Most numbers take one byte, and most lists end on their page.
		data, at, row := s.data[:s.nextTerm], s.at, s.row
		for at+2 < len(data) && data[at]|data[at+1] < 1<<7 && row < noRow/2 {
			end := at + 2 + int(data[at+1]/2)
			if end > len(data) || data[at] == 0 || data[at+1]&1 != 0 {
				break
			}
			row += int64(data[at])
			f(row, data[at+2:end:end])
			at = end
		}
		s.at, s.row = at, row
	}
}

// readPositions reads the positions in a row, which may continue on further pages.
func (s *segmentReader) readPositions(size uint64) error {
	if s.at > s.nextTerm {
		return s.damaged()
	}
	if size <= uint64(s.nextTerm-s.at) {
		s.positions = s.data[s.at : s.at+int(size)]
		s.at += int(size)
		return nil
	}
	s.divided = s.divided[:0]
	for {
		n := min(size, uint64(s.nextTerm-s.at))
		s.divided = append(s.divided, s.data[s.at:s.at+int(n)]...)
		s.at += int(n)
		if size -= n; size == 0 {
			s.positions = s.divided
			return nil
		}
		if s.nextTerm < len(s.data) || s.isLast() {
			return s.damaged()
		}
		if err := s.load(s.page + 1); err != nil {
			return err
		}
	}
}
