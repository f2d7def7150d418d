package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/directory"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// Plugin implements domarkx.Plugin for the type "sqlite".
type Plugin struct {
	lockTimeout time.Duration // how long to wait for locks of other programs; 0 for the default
}

// New returns the plugin.
func New() Plugin { return Plugin{} }

// Type returns "sqlite".
func (Plugin) Type() string { return "sqlite" }

const configSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "database file of the work tree to work on in place, from its top; without it a private one is kept"}
  }
}`

// Describe returns the schema of the config, and the tools. See [domarkx.Plugin].
func (Plugin) Describe(context.Context) (domarkx.Description, error) {
	tools := database.Tools("values of the parameters: a list for ?, an object for :name, @name and $name")
	return domarkx.Description{Source: "built-in", Config: jsonvalue.MustParse(configSchema), Tools: tools, Dump: true}, nil
}

// Open opens the database of a resource, and creates it if it does not exist: the file that the config's path names, or
// a file in env.Dir if env is private or the config has no path. It returns [domarkx.ErrInvalid] for a path that a
// resource must not have.
func (p Plugin) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	dir, err := filepath.EvalSymlinks(env.Dir)
	if err != nil {
		return nil, err
	}
	r := &resource{dir: dir, path: filepath.Join(dir, fileName), own: true, lockTimeout: p.lockTimeout}
	if path, named := env.Config.Get("path"); named && !env.Private {
		r.own = false
		if r.path, err = directory.InWorkTree(env, path.Text(), true); err != nil {
			return nil, err
		}
		if info, err := os.Lstat(r.path); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("path %q is not a regular file: %w", path.Text(), domarkx.ErrInvalid)
		}
	}
	if err := atomicfile.Sweep(r.dir); err != nil {
		return nil, err
	}
	// SQLite takes an empty file for an empty database.
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	return r, f.Close()
}

// Names of files in the resource's own directory.
const (
	fileName  = "database.sqlite"
	stampName = "committed"
)

// A resource is an open database. Each call has its own connection, so that no call sees the settings or temporary
// tables of another.
type resource struct {
	dir  string
	path string // path of the database, absolute and without symbolic links
	own  bool   // whether the database is private: a file in dir

	lockTimeout time.Duration // see [Plugin]
}

// Close does nothing, since each call closes its connection.
func (r *resource) Close(context.Context) error { return nil }

// TearDown removes the state of the resource, and the database if it is private.
func (r *resource) TearDown(context.Context) error {
	paths := []string{r.in(stampName)}
	if r.own {
		paths = append(append(paths, r.path), r.journals()...)
	}
	err := atomicfile.Sweep(r.dir)
	for _, path := range paths {
		err = errors.Join(err, atomicfile.Remove(path))
	}
	return err
}

// journals returns the paths of the files that SQLite keeps beside the database.
func (r *resource) journals() []string {
	return []string{r.path + "-journal", r.wal(), r.path + "-shm"}
}

func (r *resource) wal() string { return r.path + "-wal" }

// connect opens a connection to the database. If there is a write-ahead log, connect first checks that the file is a
// database: SQLite would discard the log of another file. It returns [domarkx.ErrCorrupt] if it is none.
func (r *resource) connect() (*sqlite3.Conn, error) {
	if size(r.wal()) > 0 {
		f, err := r.open()
		if err != nil {
			return nil, err
		}
		begin := make([]byte, len(sqlite3.Magic))
		_, err = io.ReadFull(f, begin)
		if err = errors.Join(err, f.Close()); err != nil || string(begin) != sqlite3.Magic {
			return nil, fmt.Errorf("%q is not an SQLite database, or is damaged, and %q contains changes of one: %w; restore the first or remove the second", r.path, r.wal(), domarkx.ErrCorrupt)
		}
	}
	return r.openDatabase()
}

func (r *resource) openDatabase() (*sqlite3.Conn, error) {
	c, err := sqlite3.Open(r.path)
	if err == nil && r.lockTimeout > 0 {
		c.WaitForLocks(r.lockTimeout)
	}
	return c, err
}

// open opens the database file, to read its bytes. The caller must close all connections before the file, because
// closing any descriptor of a file releases all locks of the process on it (fcntl(2)).
func (r *resource) open() (*os.File, error) {
	before, err := os.Lstat(r.path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file: %w", r.path, domarkx.ErrInvalid)
	}
	f, err := os.Open(r.path)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(before, now) {
		return nil, errors.Join(fmt.Errorf("%q: %w", r.path, domarkx.ErrConflict), err, f.Close())
	}
	return f, nil
}
