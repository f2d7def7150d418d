package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

const (
	metaFile   = "database.json"
	schemaFile = "schema.sql"
	brokenFile = "schema.txt" // in place of schema and tables if they cannot be read
	formatLine = "{\n  \"format\": 1\n}\n"

	tablesDirectory = "tables"
)

// Commit stores a version of the database: its bytes, and its content in readable form. See [domarkx.Versioned].
func (r *resource) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	f, err := r.open()
	if err != nil {
		return err
	}
	defer f.Close()
	c, err := r.freeze(ctx)
	if err != nil {
		return err
	}
	stop := c.Watch(ctx)
	defer func() {
		stop()
		c.Close()
	}()
	s, err := newStamp(f)
	if err != nil {
		return err
	}
	v, err := database.Begin(ctx, w)
	if err != nil {
		return err
	}
	if err := v.File(ctx, metaFile, []byte(formatLine)); err != nil {
		return err
	}
	if err := v.Large(ctx, fileName, io.NewSectionReader(f, 0, s.Stat.Size), s.Stat.Size); err != nil {
		return err
	}
	if err := browse(ctx, v, c); err != nil {
		return err
	}
	// SQLite syncs the file, but not the directory from which it has removed the journal of the last transaction. After
	// a power failure the journal could exist again and would undo that transaction.
	if err := errors.Join(atomicfile.Sync(f), atomicfile.SyncDir(filepath.Dir(r.path))); err != nil {
		return err
	}
	return s.write(r.in(stampName))
}

// freezes is how often freeze tries to lock the database while other programs write.
const freezes = 5

// freeze returns a connection with an open transaction that keeps other programs from writing. The main file then
// contains everything that was written. A file that is not a database has no transaction.
func (r *resource) freeze(ctx context.Context) (*sqlite3.Conn, error) {
	c, err := r.connect()
	if err != nil {
		return nil, err
	}
	stop := c.Watch(ctx)
	defer stop()
	for range freezes {
		if err = ctx.Err(); err != nil {
			break
		}
		// Only a truncated log is certainly not newer than the file (https://www.sqlite.org/wal.html).
		if err = c.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err == nil {
			err = c.Exec("BEGIN IMMEDIATE")
		}
		if unreadable(err) {
			return c, nil // SQLite cannot lock a file that is not a database
		}
		if err != nil {
			break
		}
		if size(r.wal()) == 0 {
			return c, nil
		}
		if err = c.Exec("ROLLBACK"); err != nil {
			break
		}
		err = fmt.Errorf("another program is writing to the database all the time: %w", domarkx.ErrConflict)
	}
	return nil, errors.Join(err, c.Close())
}

// unreadable reports whether an error of SQLite means that the file is not a database or is damaged.
func unreadable(err error) bool {
	code := sqlite3.Primary(err)
	return code == sqlite3.NotDatabase || code == sqlite3.Corrupt
}

// size returns the size of a file in bytes, or 0 if it does not exist.
func size(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
