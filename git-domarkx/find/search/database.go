package search

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A database is a connection with its prepared statements.
type database struct {
	conn       *sqlite3.Conn
	statements map[string]*sqlite3.Stmt
	file       os.FileInfo // of the index that was opened
	purged     bool        // whether messages were removed since the file was written
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

// query runs a statement and calls row for each row of its result. row must not run the same statement.
func (d *database) query(sql string, row func(*sqlite3.Stmt) error, args ...any) error {
	s := d.statements[sql]
	if s == nil {
		var err error
		if s, _, err = d.conn.Prepare(sql); err != nil {
			return fmt.Errorf("search index: %w", err)
		}
		d.statements[sql] = s
	}
	defer s.Reset()
	for i, arg := range args {
		if n, ok := arg.(int); ok {
			arg = int64(n)
		}
		if err := s.Bind(i+1, arg); err != nil {
			return fmt.Errorf("search index: %w", err)
		}
	}
	for {
		more, err := s.Step()
		if err != nil {
			return fmt.Errorf("search index: %w", err)
		}
		if !more {
			return nil
		}
		if row == nil {
			continue
		}
		if err := row(s); err != nil {
			return err
		}
	}
}

func (d *database) exec(sql string, args ...any) error { return d.query(sql, nil, args...) }

func (d *database) execAll(statements ...string) error {
	for _, sql := range statements {
		if err := d.exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// number returns the first column of a result's first row, or 0 if the result has no rows.
func (d *database) number(sql string, args ...any) (int64, error) {
	var n int64
	err := d.query(sql, func(s *sqlite3.Stmt) error { n = s.Int(0); return nil }, args...)
	return n, err
}

// begin starts a transaction. end commits it if err is nil, and rolls it back otherwise.
func (d *database) begin(kind string) error { return d.exec("BEGIN " + kind) }

func (d *database) end(err error) error {
	if err == nil {
		err = d.exec("COMMIT")
	}
	if err != nil && d.conn.InTransaction() {
		return errors.Join(err, d.exec("ROLLBACK"))
	}
	return err
}
