package fts5

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A Writer adds rows to an index, in the transaction of the connection. Rows are in memory until Flush. A connection
// that has read the index before Flush does not find the new rows; other connections do.
type Writer struct {
	conn      *sqlite3.Conn
	table     string
	tokenizer *tokenizer
	postings  *postings
	structure structure
	id, time  uint64 // number of the segment that is being written
	rows      int    // number of rows in memory
	totals    []uint64
	row       int64 // that is being added, with the column and the sizes of those before
	column    int
	sizes     []byte
	addSizes  *sqlite3.Inserter
	addPage   *sqlite3.Stmt
	addTerm   *sqlite3.Stmt
}

// Numbers of the records of an index.
const (
	totalsRecord    = 1
	structureRecord = 10
)

// Configure prepares a new index for a Writer.
func Configure(conn *sqlite3.Conn, table string) error {
	return conn.Exec(fmt.Sprintf("INSERT INTO %[1]s(%[1]s, rank) VALUES('usermerge', %[2]d)", table, perLevel))
}

// New returns a writer for the index with a name and that many columns. The caller closes it.
func New(conn *sqlite3.Conn, table string, columns int) (w *Writer, err error) {
	w = &Writer{conn: conn, table: table, tokenizer: newTokenizer(), postings: newPostings(), totals: make([]uint64, 1+columns)}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	conn.WriteShadowTables()
	for sql, s := range map[string]**sqlite3.Stmt{
		"INSERT OR REPLACE INTO %s_data(id, block) VALUES(?, ?)": &w.addPage,
		"INSERT INTO %s_idx(segid, term, pgno) VALUES(?, ?, ?)":  &w.addTerm,
	} {
		if *s, _, err = conn.Prepare(fmt.Sprintf(sql, table)); err != nil {
			return nil, err
		}
	}
	if w.addSizes, err = conn.NewInserter(fmt.Sprintf("INSERT INTO %s_docsize(id, sz, origin)", table), 3); err != nil {
		return nil, err
	}
	return w, w.load()
}

// Close closes the writer. It drops the rows in memory.
func (w *Writer) Close() error {
	err := w.tokenizer.close()
	for _, s := range []*sqlite3.Stmt{w.addPage, w.addTerm} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if w.addSizes != nil {
		err = errors.Join(err, w.addSizes.Close())
	}
	return err
}

// load reads the records of the index that the writer changes.
func (w *Writer) load() error {
	data, err := w.record(structureRecord)
	if err != nil {
		return err
	}
	if w.structure, err = decodeStructure(data); err != nil {
		return err
	}
	w.id, w.time = w.structure.next()
	if data, err = w.record(totalsRecord); err != nil {
		return err
	}
	for i := range w.totals {
		n, size := varint(data)
		w.totals[i], data = n, data[size:]
	}
	return nil
}

func (w *Writer) record(id int64) (data []byte, err error) {
	s, _, err := w.conn.Prepare(fmt.Sprintf("SELECT block FROM %s_data WHERE id = %d", w.table, id))
	if err != nil {
		return nil, err
	}
	if more, stepped := s.Step(); more {
		data, _ = s.Column(0).([]byte)
	} else {
		err = stepped
	}
	return data, errors.Join(err, s.Close())
}

// Add adds a row with the texts of its columns, which are valid UTF-8. The number of the row must be higher than those
// of all rows of the index.
func (w *Writer) Add(row int64, columns ...[]byte) error {
	w.Begin(row)
	for i, text := range columns {
		if err := w.Column(i); err != nil {
			return err
		}
		if err := w.Text(text); err != nil {
			return err
		}
	}
	return w.End()
}

// Begin begins a row, whose number is higher than those of all rows of the index. Column, Text, Plain and Gap follow, and End.
func (w *Writer) Begin(row int64) { w.row, w.column, w.sizes = row, 0, w.sizes[:0] }

// Column begins a column of the row. All columns come, in their order.
func (w *Writer) Column(column int) error {
	if column > 0 {
		w.endColumn()
	}
	w.column = column
	return w.postings.begin(w.row, column)
}

// endColumn notes the size of a column.
func (w *Writer) endColumn() {
	n := uint64(w.postings.end())
	w.sizes = appendVarint(w.sizes, n)
	w.totals[1+w.column] += n
}

// Text adds text to the column, which is valid UTF-8. No word extends over two texts.
func (w *Writer) Text(text []byte) error { return w.tokenizer.tokenize(text, w.postings) }

// Plain adds the beginning of a text to the column, up to the first word with a capital letter after its first letter. It
// stops before a word that is long or not ASCII. It returns the number of bytes up to there, and the size of the word
// with capitals, which is 0 if there is none.
func (w *Writer) Plain(text []byte) (n, capitals int) { return w.tokenizer.plain(text, w.postings) }

// Gap leaves out a position of the column, so that no phrase extends over it.
func (w *Writer) Gap() { w.postings.add(0, 0, 0) }

// End ends the row.
func (w *Writer) End() error {
	w.endColumn()
	w.totals[0]++
	w.rows++
	return w.addSizes.Add(w.row, w.sizes, int64(w.time))
}

// Full reports whether so many rows are in memory that the caller should call Flush.
func (w *Writer) Full() bool { return w.postings.full() }

// numberBits is how many bits of a record's number are the number of a page. The bits above are the number of the
// segment.
const numberBits = 31 + 5 + 1

// Flush writes the rows in memory to the index, as a new segment.
func (w *Writer) Flush() error {
	if w.rows == 0 {
		return nil
	}
	if err := w.addSizes.Flush(); err != nil {
		return err
	}
	s := newSegment(func(page int64, data []byte) error {
		return run(w.addPage, int64(w.id)<<numberBits+page, data)
	}, func(text []byte, page int64) error {
		if text == nil {
			text = []byte{}
		}
		return run(w.addTerm, int64(w.id), text, page<<1)
	})
	if err := w.postings.lists(s.add); err != nil {
		return err
	}
	pages, err := s.finish()
	if err != nil {
		return err
	}
	if pages > 0 {
		r := segmentRecord{recordID: w.id, recordFirst: 1, recordLast: uint64(pages), recordOldest: w.time, recordNewest: w.time, recordRows: uint64(w.rows)}
		w.structure.add(r, int(pages)*pageSize)
	}
	var totals []byte
	for _, n := range w.totals {
		totals = appendVarint(totals, n)
	}
	if err := run(w.addPage, int64(totalsRecord), totals); err != nil {
		return err
	}
	if err := run(w.addPage, int64(structureRecord), w.structure.encode()); err != nil {
		return err
	}
	w.postings.reset()
	w.rows = 0
	w.id, w.time = w.structure.next()
	return nil
}

// Merge lets SQLite merge segments if there are many small ones. It is called after the last Flush.
func (w *Writer) Merge() error {
	for _, l := range w.structure.levels {
		if len(l.segments) >= perLevel {
			return w.conn.Exec(fmt.Sprintf("INSERT INTO %[1]s(%[1]s, rank) VALUES('merge', 1000000)", w.table))
		}
	}
	return nil
}

// run runs a statement that returns no rows.
func run(s *sqlite3.Stmt, args ...any) error {
	for i, arg := range args {
		if err := s.Bind(i+1, arg); err != nil {
			return err
		}
	}
	_, err := s.Step()
	s.Reset()
	return err
}
