// Package opencodedb reads the sessions in OpenCode's database, as the program's command export
// writes them. It changes neither the database nor its log, and reads what other programs are
// writing meanwhile.
package opencodedb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// magic is how a database of SQLite begins (https://www.sqlite.org/fileformat.html).
const magic = "SQLite format 3\x00"

// Is reports whether a file is a database of SQLite, given its beginning.
func Is(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// Path returns the path under which a session in a database is found and imported.
func Path(database, session string) string { return database + "#" + session }

// Canonical returns the absolute path of a transcript without symbolic links: of a file, or of a session in a database.
func Canonical(path string) (string, error) {
	database, session, ok := Split(path)
	if !ok {
		database = path
	}
	abs, err := filepath.Abs(database)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil || !ok {
		return abs, err
	}
	return Path(abs, session), nil
}

// Split returns the database and the session of a path made by [Path]; false for any other path.
func Split(path string) (database, session string, ok bool) {
	at := strings.LastIndex(path, "#ses_")
	if at < 0 {
		return "", "", false
	}
	if _, err := os.Lstat(path); err == nil { // a file of that name
		return "", "", false
	}
	return path[:at], path[at+1:], true
}

// A DB is an open database, or a directory that is read as one.
type DB struct {
	path   string
	conn   *sqlite3.Conn
	copied string      // directory with a copy of the database that is read instead; "" for none
	before os.FileInfo // of a database without a log, which nothing may write while it is read

	storage      *os.Root          // a directory of files in place of a database; nil for none
	sessionFiles map[string]string // of the storage, once they are known
}

// ErrChanged means that another program wrote the database in a way that made reading it
// impossible. Reading it again succeeds.
var ErrChanged = fmt.Errorf("%w: the database changed while it was read; import it again", domarkx.ErrInvalid)

// maxValue limits the size of a value in the database, in bytes.
const maxValue = 256 << 20

// Open opens a database. The error matches domarkx.ErrUnsupported if OpenCode did not write it.
func Open(path string) (*DB, error) {
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return nil, err
	}
	d := &DB{path: real}
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		if err := d.openStorage(); err != nil {
			return nil, fmt.Errorf("opening the directory: %w", err)
		}
		return d, nil
	}
	if err := d.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the database: %w", reason(err)), d.Close())
	}
	d.conn.Limit(sqlite3.LimitLength, maxValue)
	tables := 0
	err = d.query("SELECT count(*) FROM sqlite_master WHERE type='table' AND name IN ('session','message','part')", nil, func(s *sqlite3.Stmt) error {
		tables = int(integer(s.Column(0)))
		return nil
	})
	if err == nil && tables < 3 {
		err = fmt.Errorf("%w: it is a database of SQLite, but not of OpenCode", domarkx.ErrUnsupported)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the database: %w", reason(err)), d.Close())
	}
	// Only these tables are read. What else a hostile schema defines has no effect.
	d.conn.Restrict(func(a sqlite3.Action) bool {
		switch a.Code {
		case sqlite3.Select, sqlite3.Transaction:
			return true
		case sqlite3.Read:
			return a.One == "session" || a.One == "message" || a.One == "part"
		case sqlite3.Function:
			return a.Two == "max" || a.Two == "count"
		}
		return false
	})
	return d, nil
}

// open connects to the database: in place if another program has its log open, and to a copy if
// there is a log that no program has open, because recovering it writes beside the database.
// Without a log, nothing but a checkpoint changes the file, and that is noticed.
func (d *DB) open() (err error) {
	info, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is not a regular file", domarkx.ErrInvalid)
	}
	hasLog, hasIndex := hasContent(d.path+"-wal"), hasContent(d.path+"-shm")
	switch {
	case hasLog && hasIndex:
		d.conn, err = sqlite3.OpenReadOnly(d.path, false)
	case hasLog:
		if d.copied, err = os.MkdirTemp("", "git-domarkx-"); err != nil {
			return err
		}
		to := filepath.Join(d.copied, "opencode.db")
		if err = errors.Join(copyFile(to, d.path), copyFile(to+"-wal", d.path+"-wal")); err == nil {
			d.conn, err = sqlite3.OpenReadOnly(to, false)
		}
	default:
		d.before = info
		d.conn, err = sqlite3.OpenReadOnly(d.path, true)
	}
	return err
}

func hasContent(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Size() > 0
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Close closes the database.
func (d *DB) Close() error {
	var errs []error
	if d.storage != nil {
		errs = append(errs, d.storage.Close())
	}
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	if d.copied != "" {
		errs = append(errs, os.RemoveAll(d.copied))
	}
	return errors.Join(errs...)
}

// changed returns ErrChanged if a program wrote the database since it was opened without a log.
func (d *DB) changed() error {
	if d.before == nil {
		return nil
	}
	now, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	if now.Size() != d.before.Size() || !now.ModTime().Equal(d.before.ModTime()) || !os.SameFile(now, d.before) {
		return ErrChanged
	}
	return nil
}

// query runs a SELECT and calls row for each row.
func (d *DB) query(sql string, arguments []any, row func(*sqlite3.Stmt) error) error {
	s, _, err := d.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, argument := range arguments {
		if err := s.Bind(i+1, argument); err != nil {
			return err
		}
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		if err := row(s); err != nil {
			return err
		}
	}
}

// read runs queries on one state of the database.
func (d *DB) read(ctx context.Context, queries func() error) error {
	defer d.conn.Watch(ctx)()
	err := d.conn.Exec("BEGIN")
	if err == nil {
		err = errors.Join(queries(), d.conn.Exec("END"))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if changed := d.changed(); changed != nil {
		return changed
	}
	return reason(err)
}

// reason makes damage of a database an error of the document.
func reason(err error) error {
	switch sqlite3.Primary(err) {
	case sqlite3.Corrupt, sqlite3.NotDatabase, sqlite3.TooBig, sqlite3.Failed, sqlite3.Denied:
		return fmt.Errorf("%w: %w", domarkx.ErrInvalid, err)
	case sqlite3.Busy, sqlite3.Locked:
		return fmt.Errorf("%w: another program has it locked; import it again: %w", domarkx.ErrInvalid, err)
	}
	return err
}

func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
