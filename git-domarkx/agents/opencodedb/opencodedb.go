// Package opencodedb reads sessions from OpenCode's database, in the format of the command
// "opencode export". It never changes the database or its write-ahead log. Other programs may write
// to the database meanwhile. SQLite may read only three of its tables.
package opencodedb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// Path returns the path by which a session in a database is imported and recorded.
func Path(database, session string) string { return database + "#" + session }

// Canonical returns the absolute path, without symbolic links, of a transcript: a file, or a
// session in a database.
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

// Split splits a path made by [Path] into the database and the session. ok is false for any other
// path.
func Split(path string) (database, session string, ok bool) {
	at := strings.LastIndex(path, "#ses_")
	if at < 0 {
		return "", "", false
	}
	if _, err := os.Lstat(path); err == nil { // a file has this name
		return "", "", false
	}
	return path[:at], path[at+1:], true
}

// A DB is an open database, or an open directory of older versions of OpenCode.
type DB struct {
	path   string
	conn   *sqlite3.Conn
	copied string      // directory with a temporary copy of the database; "" if it is read in place
	before os.FileInfo // the state of a database without a log when it was opened; nil otherwise

	storage      *os.Root          // the directory of files, in place of a database; nil for none
	sessionFiles map[string]string // session → file in storage; nil until they are read
}

// maxValue is the maximum size in bytes of a value in the database.
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
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		d := &DB{path: real}
		if err := d.openStorage(); err != nil {
			return nil, fmt.Errorf("opening the directory: %w", err)
		}
		return d, nil
	}
	return openFile(real, copyFile)
}

// maxAttempts limits how often a database is opened anew because a program wrote it meanwhile.
const maxAttempts = 5

// openFile opens a database file. copyFile copies a file.
func openFile(path string, copyFile func(to, from string) error) (d *DB, err error) {
	for range maxAttempts {
		if d, err = openOnce(path, copyFile); !errors.Is(err, opencode.ErrChanged) {
			break
		}
	}
	return d, err
}

func openOnce(path string, copyFile func(to, from string) error) (*DB, error) {
	d := &DB{path: path}
	if err := d.open(copyFile); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the database: %w", reason(err)), d.Close())
	}
	d.conn.Limit(sqlite3.LimitLength, maxValue)
	tables := 0
	err := d.conn.Query("SELECT count(*) FROM sqlite_master WHERE type='table' AND name IN ('session','message','part')", nil, func(s *sqlite3.Stmt) error {
		tables = int(integer(s.Column(0)))
		return nil
	})
	if err == nil && tables < 3 {
		err = fmt.Errorf("%w: it is a database of SQLite, but not of OpenCode", domarkx.ErrUnsupported)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the database: %w", reason(err)), d.Close())
	}
	// Only these tables may be read, so that a malicious schema has no effect.
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

// open opens the database file. It reads it in place if another program has the log open. If there
// is a log that no program has open, it reads a copy, because SQLite would write to the directory
// to recover the log. Without a log, only a checkpoint changes the file, and [DB.changed] detects
// that.
func (d *DB) open(copyFile func(to, from string) error) (err error) {
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
		if err = copyDatabase(to, d.path, copyFile); err == nil {
			d.conn, err = sqlite3.OpenReadOnly(to, false)
		}
	default:
		d.before = info
		d.conn, err = sqlite3.OpenReadOnly(d.path, true)
	}
	return err
}

// logHeaderSize is the size in bytes of the header of a write-ahead log. The header has random numbers,
// which differ whenever the log begins anew (https://www.sqlite.org/walformat.html).
const logHeaderSize = 32

// copyDatabase copies a database and its log. If the log began anew meanwhile, because a program moved
// its pages into the database, the copies do not belong together, and it returns opencode.ErrChanged. Otherwise
// the copy of the log has all pages that the copy of the database may lack or have in part.
func copyDatabase(to, from string, copyFile func(to, from string) error) error {
	before, err := logHeader(from + "-wal")
	if err != nil {
		return err
	}
	err = errors.Join(copyFile(to, from), copyFile(to+"-wal", from+"-wal"))
	now, unread := logHeader(from + "-wal")
	if errors.Is(errors.Join(err, unread), fs.ErrNotExist) || !bytes.Equal(before, now) {
		return opencode.ErrChanged
	}
	return errors.Join(err, unread)
}

// logHeader returns the header of a write-ahead log, or less if the file is shorter.
func logHeader(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, logHeaderSize))
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

// changed returns opencode.ErrChanged if the database was opened without a log and has changed since.
func (d *DB) changed() error {
	if d.before == nil {
		return nil
	}
	now, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	if now.Size() != d.before.Size() || !now.ModTime().Equal(d.before.ModTime()) || !os.SameFile(now, d.before) {
		return opencode.ErrChanged
	}
	return nil
}

// read runs queries in one transaction, so that all see the same state. It returns opencode.ErrChanged if
// the database changed in another way.
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

// reason makes errors about damaged or locked databases match [domarkx.ErrInvalid].
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
