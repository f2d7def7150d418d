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
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// A row is a session in a database, which is imported as if it were a document of its own.
type row struct {
	database string
	session  string // id of the session
}

// maxAttempts is how often a database is read again because a program has written to it meanwhile.
const maxAttempts = 5

// read calls f with a database, which is open for all of its sessions, and again if a program has written to it meanwhile.
func (c *collector) read(path string, f func(*opencodedb.DB) error) error {
	for attempt := 0; ; attempt++ {
		db, err := c.databases[path], error(nil)
		if db == nil {
			if db, err = opencodedb.Open(path); err != nil {
				return local.PathError(err)
			}
			c.databases[path] = db
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
	if c.input != nil {
		errs = append(errs, c.input.Close())
	}
	return errors.Join(errs...)
}

// database finds the sessions in a database: all of them, or only the one with the given id.
func (c *collector) database(ctx context.Context, path, id string) ([]found, error) {
	if c.Format != "" && c.Format != opencode.Name {
		return nil, fmt.Errorf("%s: %w: it is a database, from which only sessions of %s are read", path, domarkx.ErrInvalid, opencode.Name)
	}
	known, ok := c.listed[path]
	if !ok {
		err := c.read(path, func(db *opencodedb.DB) (err error) {
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
			all = append(all, found{path: opencodedb.Path(path, s.ID), key: opencodedb.Path(canonical, s.ID), stamp: s.Stamp,
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
func storedStamp(db *opencodedb.DB, id string) string {
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
	err = c.read(f.row.database, func(db *opencodedb.DB) error {
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
