package fts5

import (
	"bytes"
	"errors"
)

// errStructure is the error for a structure record that this package does not know.
var errStructure = errors.New("unknown structure of a full-text index")

// A structure is the structure record of an index: its segments by level. SQLite merges the segments of one level into
// a segment of the next one.
type structure struct {
	cookie  []byte // number that SQLite changes with the settings
	written uint64 // number of pages that were written since the index was created
	levels  []level
}

type level struct {
	merging  uint64
	segments []segmentRecord
}

// A segmentRecord describes a segment: its number, its first and last page, the lowest and the highest number of the
// transactions that added its rows, the pages and entries of its deleted rows, and the number of its rows.
type segmentRecord [8]uint64

const (
	recordID = iota
	recordFirst
	recordLast
	recordOldest
	recordNewest
	_
	_
	recordRows
)

// structureVersion follows the cookie in the structure record of an index with contentless_delete=1.
var structureVersion = []byte{0xff, 0, 0, 1}

func decodeStructure(data []byte) (s structure, err error) {
	if len(data) < 8 || !bytes.Equal(data[4:8], structureVersion) {
		return s, errStructure
	}
	s.cookie, data = bytes.Clone(data[:4]), data[8:]
	number := func() uint64 {
		n, size := varint(data)
		if size == 0 {
			err = errStructure
		}
		data = data[size:]
		return n
	}
	levels, segments := number(), number()
	s.written = number()
	for ; levels > 0 && err == nil; levels-- {
		l := level{merging: number()}
		for n := number(); n > 0 && err == nil; n-- {
			var r segmentRecord
			for i := range r {
				r[i] = number()
			}
			l.segments = append(l.segments, r)
			segments--
		}
		s.levels = append(s.levels, l)
	}
	if err == nil && (segments != 0 || len(data) > 0) {
		err = errStructure
	}
	return s, err
}

func (s *structure) encode() []byte {
	segments := 0
	for _, l := range s.levels {
		segments += len(l.segments)
	}
	data := append(bytes.Clone(s.cookie), structureVersion...)
	data = appendVarint(appendVarint(appendVarint(data, uint64(len(s.levels))), uint64(segments)), s.written)
	for _, l := range s.levels {
		data = appendVarint(appendVarint(data, l.merging), uint64(len(l.segments)))
		for _, r := range l.segments {
			for _, n := range r {
				data = appendVarint(data, n)
			}
		}
	}
	return data
}

// next returns a free number for a segment, and the number of the next transaction that adds rows.
func (s *structure) next() (id, time uint64) {
	used := map[uint64]bool{}
	for _, l := range s.levels {
		for _, r := range l.segments {
			used[r[recordID]] = true
			time = max(time, r[recordNewest])
		}
	}
	for id = 1; used[id]; id++ {
	}
	return id, time + 1
}

// SQLite merges sixteen segments of a level when asked to (see New). A segment of at least largeSegment bytes gets
// a level of its own, where there are never so many: merging large segments takes more time than it saves in searches.
const (
	perLevel     = 16
	firstLarge   = 8
	largeSegment = 4 << 20
)

// add adds a segment of that many bytes.
func (s *structure) add(r segmentRecord, size int) {
	at := 0
	if size >= largeSegment {
		for at = firstLarge; at < len(s.levels) && len(s.levels[at].segments) >= perLevel-1; at++ {
		}
	}
	for at >= len(s.levels) {
		s.levels = append(s.levels, level{})
	}
	s.levels[at].segments = append(s.levels[at].segments, r)
	s.written += r[recordLast]
}
