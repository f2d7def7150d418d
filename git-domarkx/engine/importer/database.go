package importer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// Databases reads the databases in which OpenCode keeps its sessions (package opencodedb). Without Open, the importer
// reads none.
type Databases struct {
	// Path returns the path by which a session in a database is imported and recorded; Split splits it. ok is false for
	// any other path.
	Path  func(database, session string) string
	Split func(path string) (database, session string, ok bool)
	// IsStorage reports whether a directory has sessions as a database has them.
	IsStorage func(dir string) bool
	// Open opens a database or such a directory. The error matches domarkx.ErrUnsupported if OpenCode did not write it.
	Open func(path string) (Database, error)
}

// A Database is an open database. Its errors match [opencode.ErrChanged] if a read can be repeated.
type Database interface {
	// Sessions returns the sessions, the oldest first.
	Sessions(ctx context.Context) ([]opencode.StoredSession, error)
	// StoredFiles calls visit for each file of a session in a directory, without reading the files.
	StoredFiles(id string, visit func(name string, info fs.FileInfo)) error
	// Export writes a session in the format of the command "opencode export". It omits and reports invalid rows.
	Export(ctx context.Context, id string, w io.Writer) (skipped []string, err error)
	Close() error
}

// noDatabases are databases that are not read.
func noDatabases() Databases {
	return Databases{
		Split:     func(string) (database, session string, ok bool) { return "", "", false },
		IsStorage: func(string) bool { return false },
		Open: func(string) (Database, error) {
			return nil, fmt.Errorf("%w: databases are not read here", domarkx.ErrUnsupported)
		},
	}
}

// A row is a session in a database, which is imported as if it were a document of its own.
type row struct {
	database string
	session  string // id of the session
}

// openDatabase opens a database of OpenCode once, for all of its sessions.
func (c *collector) openDatabase(path string) (Database, error) {
	if db, ok := c.databases[path]; ok {
		return db, nil
	}
	db, err := c.manager.databases.Open(path)
	if err != nil {
		return nil, local.PathError(err)
	}
	c.databases[path] = db
	return db, nil
}

// maxAttempts is how often a database is read again because a program has written to it meanwhile.
const maxAttempts = 5

// read calls f with an open database, and again if a program has written to it meanwhile.
func (c *collector) read(path string, f func(Database) error) error {
	for attempt := 0; ; attempt++ {
		db, err := c.openDatabase(path)
		if err != nil {
			return err
		}
		if err = f(db); !errors.Is(err, opencode.ErrChanged) || attempt == maxAttempts {
			return err
		}
		delete(c.databases, path) // the next attempt opens it again
		if err := db.Close(); err != nil {
			return err
		}
	}
}

// close closes all databases.
func (c *collector) close() error {
	var errs []error
	for _, db := range c.databases {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}

// database finds the sessions in a database: all of them, or only the one with the given id.
func (c *collector) database(ctx context.Context, path, id string) ([]found, error) {
	if c.format != "" && c.format != opencode.Name {
		return nil, fmt.Errorf("%s: %w: it is a database, from which only sessions of %s are read", path, domarkx.ErrInvalid, opencode.Name)
	}
	known, ok := c.listed[path]
	if !ok {
		err := c.read(path, func(db Database) (err error) {
			known, err = db.Sessions(ctx)
			for i := range known {
				if known[i].Stamp == "" {
					known[i].Stamp = storedStamp(db, known[i].ID)
				}
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		c.listed[path] = known
	}
	canonical, err := local.CanonicalPath(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, local.PathError(err))
	}
	var all []found
	for _, s := range known {
		if id == "" || s.ID == id {
			all = append(all, found{path: c.manager.databases.Path(path, s.ID), key: c.manager.databases.Path(canonical, s.ID), stamp: s.Stamp,
				as: c.as, name: cmp.Or(c.as, s.ID), row: row{path, s.ID}})
		}
	}
	if id != "" && len(all) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no session %q", path, domarkx.ErrNotFound, id)
	}
	if c.as != "" && len(all) != 1 {
		return nil, fmt.Errorf("importing %s: %w: --as names one session, and the database has %d", path, domarkx.ErrInvalid, len(all))
	}
	return all, nil
}

// storedStamp returns the stamp of a session whose parts are files in directories, or "" as [document.Stamp] does. Programs
// rewrite these files in place, so that the times of their directories do not show a change.
func storedStamp(db Database, id string) string {
	now, digest, files, isSure := time.Now(), sha256.New(), 0, true
	err := db.StoredFiles(id, func(name string, info fs.FileInfo) {
		stamp := document.Stamp(info, now)
		files, isSure = files+1, isSure && stamp != ""
		fmt.Fprintf(digest, "%q %s\n", name, stamp)
	})
	if err != nil || files == 0 || !isSure {
		return ""
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// readRow returns a session in a database as a document, whose content is in a temporary file.
func (c *collector) readRow(ctx context.Context, f found) (in input, err error) {
	in = input{found: f}
	if in.codec, err = c.manager.sessions.Codec(opencode.Name); err != nil {
		return in, err
	}
	var skipped []string
	err = c.read(f.row.database, func(db Database) error {
		in.Content, err = document.Temporary(func(w io.Writer) (err error) {
			skipped, err = db.Export(ctx, f.row.session, w)
			return err
		})
		return err
	})
	for _, msg := range skipped {
		in.damage = append(in.damage, &syntax.Error{Path: in.path, Msg: msg})
	}
	return in, err
}
