package search

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A database is a connection with its prepared statements. After an error, statements do nothing and have no rows, so
// that callers ask for the error once, with failed or end.
type database struct {
	conn       *sqlite3.Conn
	statements map[string]*sqlite3.Stmt
	file       os.FileInfo // of the index that was opened
	purged     bool        // whether messages were removed since the file was written
	err        error       // the first error
}

func openDatabase(path string) (*database, error) {
	conn, err := sqlite3.Open(path)
	if err != nil {
		return nil, err
	}
	conn.WaitForLocks(time.Minute)
	return &database{conn: conn, statements: map[string]*sqlite3.Stmt{}}, nil
}

func (d *database) close() error {
	var err error
	for _, s := range d.statements {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, d.conn.Close())
}

// fail keeps an error, unless there was one before.
func (d *database) fail(err error) { d.err = cmp.Or(d.err, err) }

// failed returns the first error since it was called last.
func (d *database) failed() error {
	err := d.err
	d.err = nil
	return err
}

// rows runs a statement and yields the rows of its result. The loop must not run the same statement.
func (d *database) rows(sql string, args ...any) iter.Seq[*sqlite3.Stmt] {
	return func(yield func(*sqlite3.Stmt) bool) {
		if d.err != nil {
			return
		}
		s, err := d.prepared(sql, args)
		if s != nil {
			defer s.Reset()
		}
		for err == nil && d.err == nil {
			var more bool
			if more, err = s.Step(); !more || !yield(s) {
				break
			}
		}
		if err != nil {
			d.fail(fmt.Errorf("search index: %w", err))
		}
	}
}

func (d *database) prepared(sql string, args []any) (*sqlite3.Stmt, error) {
	s, ok := d.statements[sql]
	var err error
	if !ok {
		if s, _, err = d.conn.Prepare(sql); err != nil {
			return nil, err
		}
		d.statements[sql] = s
	}
	for i, arg := range args {
		if n, ok := arg.(int); ok {
			arg = int64(n)
		}
		err = errors.Join(err, s.Bind(i+1, arg))
	}
	return s, err
}

func (d *database) exec(sql string, args ...any) {
	for range d.rows(sql, args...) {
	}
}

func (d *database) execAll(statements ...string) {
	for _, sql := range statements {
		d.exec(sql)
	}
}

// number returns the first column of a result's only row, or 0 if the result has no rows.
func (d *database) number(sql string, args ...any) (n int64) {
	for s := range d.rows(sql, args...) {
		n = s.Int(0)
	}
	return n
}

// begin starts a transaction. end commits it if nothing failed, and rolls it back otherwise.
func (d *database) begin(kind string) { d.exec("BEGIN " + kind) }

func (d *database) end(err error) error {
	if err == nil {
		d.exec("COMMIT")
	}
	err = cmp.Or(err, d.failed())
	if err != nil && d.conn.InTransaction() {
		d.exec("ROLLBACK")
		return errors.Join(err, d.failed())
	}
	return err
}
