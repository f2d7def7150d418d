package fts5

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// ErrDamaged is the error for an index whose records do not have the format that this package reads.
var ErrDamaged = errors.New("damaged full-text index")

// A Reader reads the rows and positions of words from an index, in the transaction of the connection. It reads the
// pages itself, because each row that SQLite's MATCH returns takes as much time as a hundred entries of a list. It does
// not check which rows were deleted.
type Reader struct {
	conn       *sqlite3.Conn
	structure  structure
	tokenizer  *tokenizer
	findPage   *sqlite3.Stmt
	readPage   *sqlite3.Stmt
	pages      string          // SQL that returns successive pages
	successive []*sqlite3.Stmt // the statements of pages; all are closed with the reader
	idle       []*sqlite3.Stmt // those of them that no segmentReader uses
}

// NewReader returns a reader for the index with a name. The caller closes it.
func NewReader(conn *sqlite3.Conn, table string) (r *Reader, err error) {
	r = &Reader{conn: conn, tokenizer: newTokenizer(), pages: fmt.Sprintf("SELECT id, block FROM %s_data WHERE id BETWEEN ? AND ?", table)}
	for sql, s := range map[string]**sqlite3.Stmt{
		"SELECT pgno FROM %s_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1": &r.findPage,
		"SELECT block FROM %s_data WHERE id = ?":                                           &r.readPage,
	} {
		if *s, _, err = conn.Prepare(fmt.Sprintf(sql, table)); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	record, err := r.read(structureRecord, nil)
	if err == nil {
		if r.structure, err = decodeStructure(record); errors.Is(err, errStructure) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close closes the reader.
func (r *Reader) Close() error {
	err := r.tokenizer.close()
	for _, s := range append(r.successive, r.findPage, r.readPage) {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// Words returns the words of a text, which is valid UTF-8, in the form in which the index contains them.
func (r *Reader) Words(text []byte) ([]string, error) {
	p := newFewPostings()
	if err := p.begin(1, 0); err != nil {
		return nil, err
	}
	if err := r.tokenizer.tokenize(text, p); err != nil {
		return nil, err
	}
	words := make([]string, p.end())
	err := p.lists(func(text, list []byte) error {
		_, row := varint(list)
		_, size := varint(list[row:])
		for _, at := range Positions(list[row+size:]).Append(nil) {
			words[at] = string(text)
		}
		return nil
	})
	return words, err
}

// read reads a record of the index into a buffer.
func (r *Reader) read(id int64, buffer []byte) ([]byte, error) {
	if err := r.readPage.Bind(1, id); err != nil {
		return nil, err
	}
	defer r.readPage.Reset()
	found, err := r.readPage.Step()
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("%w: record %d is missing", ErrDamaged, id)
	}
	return r.readPage.AppendBytes(buffer[:0], 0), nil
}

// readFrom returns a statement that returns the records from id to last.
func (r *Reader) readFrom(id, last int64) (s *sqlite3.Stmt, err error) {
	if n := len(r.idle); n > 0 {
		s, r.idle = r.idle[n-1], r.idle[:n-1]
	} else if s, _, err = r.conn.Prepare(r.pages); err != nil {
		return nil, err
	} else {
		r.successive = append(r.successive, s)
	}
	return s, errors.Join(s.Bind(1, id), s.Bind(2, last))
}

// pageOf returns the number of the page that contains a word, if the segment contains the word.
func (r *Reader) pageOf(s segmentRecord, word []byte) (int64, error) {
	if err := errors.Join(r.findPage.Bind(1, int64(s[recordID])), r.findPage.Bind(2, word)); err != nil {
		return 0, err
	}
	defer r.findPage.Reset()
	found, err := r.findPage.Step()
	if err != nil || !found {
		return int64(s[recordFirst]), err
	}
	return max(r.findPage.Int(0)>>1, int64(s[recordFirst])), nil
}

// segments returns all segments of the index.
func (r *Reader) segments() (all []segmentRecord) {
	for _, l := range r.structure.levels {
		all = append(all, l.segments...)
	}
	return all
}

// Prefix calls each with the rows of all words that begin with a text, and with the positions in the row. A row occurs
// once for each such word that it contains; rows are not sorted. The positions are valid until each returns.
func (r *Reader) Prefix(prefix []byte, each func(row int64, at Positions)) error {
	want := append([]byte{mainIndex}, prefix...)
	for _, record := range r.segments() {
		s := newSegmentReader(r, record)
		found, err := s.seek(want)
		for ; err == nil && found && bytes.HasPrefix(s.word, want); found, err = s.nextWord() {
			if err = s.each(each); err != nil {
				break
			}
		}
		if s.end(); err != nil {
			return err
		}
	}
	return nil
}

// A Cursor returns the rows that contain a word, in ascending order.
type Cursor struct {
	Row       int64
	Positions Positions // positions of the word in Row; valid until the next call of Next

	segments []*segmentReader // readers of the segments that have further rows
	current  int              // index of the segment that contains Row, or -1
	before   int64            // lowest next row of the other segments
}

// Word returns a cursor that is before the first row that contains a word.
func (r *Reader) Word(word []byte) (*Cursor, error) {
	c := &Cursor{current: -1}
	want := append([]byte{mainIndex}, word...)
	for _, record := range r.segments() {
		s := newSegmentReader(r, record)
		found, err := s.seek(want)
		if err != nil {
			return nil, err
		}
		if !found || !bytes.Equal(s.word, want) {
			continue
		}
		if found, err = s.next(); err != nil {
			return nil, err
		}
		if found {
			c.segments = append(c.segments, s)
		}
	}
	return c, nil
}

// Next moves to the next row, and reports whether there is one.
func (c *Cursor) Next() (bool, error) {
	if c.current >= 0 {
		s := c.segments[c.current]
		more, err := s.next()
		if err != nil {
			return false, err
		}
		if more && s.row < c.before {
			c.Row, c.Positions = s.row, s.positions
			return true, nil
		}
		if !more {
			s.end()
			c.segments[c.current] = c.segments[len(c.segments)-1]
			c.segments = c.segments[:len(c.segments)-1]
		}
	}
	c.choose()
	return c.current >= 0, nil
}

// choose chooses the segment with the lowest row. Segments usually contain different ranges of rows, so that this is
// seldom necessary.
func (c *Cursor) choose() {
	c.current, c.before = -1, noRow
	for i, s := range c.segments {
		switch {
		case c.current < 0 || s.row < c.segments[c.current].row:
			if c.current >= 0 {
				c.before = c.segments[c.current].row
			}
			c.current = i
		case s.row < c.before:
			c.before = s.row
		}
	}
	if c.current >= 0 {
		c.Row, c.Positions = c.segments[c.current].row, c.segments[c.current].positions
	}
}
