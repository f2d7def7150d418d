package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/database"
)

// Plugin has the resources of the type "postgres".
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

// Describe tells of the config and the tools.
func (Plugin) Describe(context.Context) (domarkx.Description, error) {
	config, err := domarkx.ParseValue([]byte(configSchema))
	if err != nil {
		return domarkx.Description{}, err
	}
	tools, err := database.Tools("values of the parameters $1, $2, …")
	return domarkx.Description{Source: "built-in", Config: config, Tools: tools}, err
}

// Open opens the database that the config's dsn names, unless env is private or
// there is none; then one on a server of its own, which is started when it is first
// needed.
func (Plugin) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	dsn, named := env.Config.Get("dsn")
	if !named || env.Private {
		s, err := openServer(ctx, env)
		if err != nil {
			return nil, err
		}
		return &resource{dir: env.Dir, name: env.Resource, database: s}, nil
	}
	if !slices.Contains(env.Allow.DSNs, dsn.Text()) {
		return nil, fmt.Errorf("dsn: your configuration does not allow this database: %w; allow it with git config --add domarkx.allowDSN and the value that the document has", domarkx.ErrInvalid)
	}
	e, err := openExternal(dsn.Text())
	if err != nil {
		return nil, err
	}
	return &resource{dir: env.Dir, name: env.Resource, database: e}, nil
}

// A resource is a database.
type resource struct {
	dir      string
	name     string
	database store
}

// A store is where the database is.
type store interface {
	// connect opens a connection for a purpose, and starts what that needs.
	connect(ctx context.Context, as purpose) (*connection, error)
	// dumper returns the program pg_dump and its environment.
	dumper(ctx context.Context) (program string, env []string, err error)
	// replace fills the database anew: fill gets a connection in a transaction in which
	// it is empty. The roles have to be there.
	replace(ctx context.Context, roles []string, fill func(*connection) error) error
	// shared reports whether others than this program may change the database.
	shared() bool
	close(ctx context.Context) error
	remove(ctx context.Context) error
}

// A purpose is what a connection is for.
type purpose int

const (
	forTools    purpose = iota // what a statement may do
	forVersions                // reading everything, of the catalogs alone
	forRows                    // reading the rows of all tables
)

// Close stops the server, if it is the resource's own.
func (r *resource) Close(ctx context.Context) error { return r.database.close(ctx) }

// TearDown removes the server, if it is the resource's own.
func (r *resource) TearDown(ctx context.Context) error {
	if err := r.database.remove(ctx); err != nil {
		return err
	}
	return r.forget()
}
