package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/database"
)

// Plugin implements domarkx.Plugin for the type "postgres".
type Plugin struct{}

// New returns the plugin.
func New() Plugin { return Plugin{} }

// Type returns "postgres".
func (Plugin) Type() string { return "postgres" }

const configSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "dsn": {"type": "string", "minLength": 1, "description": "a database of your own, such as postgres://user:${PASSWORD}@host/name, that git config domarkx.allowDSN has to list; versions have all of it, and going back overwrites it. Without it a private server is kept"}
  }
}`

// Describe returns the config and the tools.
func (Plugin) Describe(context.Context) (domarkx.Description, error) {
	tools := database.Tools("values of the parameters $1, $2, …")
	return domarkx.Description{Source: "built-in", Config: jsonvalue.MustParse(configSchema), Tools: tools, Dump: true}, nil
}

// Open opens the database that the config's dsn names. Without a dsn, or when env is private, it
// opens one on a server of the resource, which is started on first use.
func (Plugin) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	dsn, named := env.Config.Get("dsn")
	if !named || env.Private {
		s, err := openServer(env)
		return &resource{dir: env.Dir, database: s}, err
	}
	if !slices.Contains(env.Allow.DSNs, dsn.Text()) {
		return nil, fmt.Errorf("dsn: your configuration does not allow this database: %w; allow it with git config --add domarkx.allowDSN and the value that the document contains", domarkx.ErrInvalid)
	}
	c, err := parse(dsn.Text())
	return &resource{dir: env.Dir, database: &external{c}}, err
}

// A resource is a database.
type resource struct {
	dir      string
	database store
}

// A store is a place for the database: a private server, or an existing database.
type store interface {
	// connect opens a connection for a purpose, and starts the server if necessary.
	connect(ctx context.Context, as purpose) (*connection, error)
	// dumper returns the directory of pg_dump and pg_restore, and their environment.
	dumper(ctx context.Context) (directory string, env []string, err error)
	// replace calls fill with a connection in a transaction in which the database is empty. The roles must exist.
	replace(ctx context.Context, roles []string, fill func(*connection) error) error
	// shared reports whether other programs may change the database.
	shared() bool
	close(ctx context.Context) error
	remove(ctx context.Context) error
}

// A purpose is the use of a connection.
type purpose int

const (
	forTools    purpose = iota // reading and writing by tools
	forVersions                // reading catalogs only
	forRows                    // reading the rows of all tables
)

// with calls do with a connection for a purpose.
func (r *resource) with(ctx context.Context, as purpose, do func(*connection) error) error {
	c, err := r.database.connect(ctx, as)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.end(ctx))
}

// Close stops the resource's own server.
func (r *resource) Close(ctx context.Context) error { return r.database.close(ctx) }

// TearDown removes the resource's own server.
func (r *resource) TearDown(ctx context.Context) error {
	if err := r.database.remove(ctx); err != nil {
		return err
	}
	return atomicfile.Remove(r.in(cleanName))
}

// cleanName is the file in a resource's own directory that exists while the database equals the last commit or load.
const cleanName = "clean"

func (r *resource) in(name string) string { return filepath.Join(r.dir, name) }

// dirty records, durably, that the database is about to differ from the last commit or load.
func (r *resource) dirty() error { return atomicfile.Remove(r.in(cleanName)) }

// clean records that the database at a mark equals the last commit or load.
func (r *resource) clean(mark string) error {
	return atomicfile.Replace(r.in(cleanName), []byte(mark+"\n"))
}

// markSQL returns a mark that differs after any change: it covers transactions, and sequences, which
// change outside of transactions.
const markSQL = `SELECT pg_current_snapshot()::text || ' ' || (SELECT md5(coalesce(string_agg(
schemaname || ' ' || sequencename || ' ' || coalesce(last_value::text, ''), ',' ORDER BY schemaname, sequencename), '')) FROM pg_sequences)`

// Changed compares marks if other programs may change the database. On a private server, only calls
// of the resource's tools can change anything.
func (r *resource) Changed(ctx context.Context) (bool, error) {
	then, err := os.ReadFile(r.in(cleanName))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !r.database.shared() {
		return false, err
	}
	now, err := r.mark(ctx)
	return now+"\n" != string(then), err
}

// mark returns the present mark.
func (r *resource) mark(ctx context.Context) (mark string, err error) {
	err = r.with(ctx, forVersions, func(c *connection) (err error) { mark, err = c.value(ctx, markSQL); return err })
	return mark, err
}
