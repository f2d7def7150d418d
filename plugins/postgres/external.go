package postgres

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/jackc/pgx/v5"
)

// An external store is a database of the user's.
type external struct{ config *pgx.ConnConfig }

func openExternal(dsn string) (*external, error) {
	c, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	return &external{c}, nil
}

func (*external) shared() bool { return true }

// connect refuses roles with which SQL can leave the database.
func (e *external) connect(ctx context.Context, _ purpose) (*connection, error) {
	c, err := connect(ctx, e.config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database of the dsn: %w", err)
	}
	powers, err := c.value(ctx, `SELECT coalesce(string_agg(rolname, ', ' ORDER BY rolname), '') FROM pg_roles
WHERE (rolsuper OR rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))
AND pg_has_role(current_user, oid, 'member')`)
	if err == nil && powers != "" {
		err = fmt.Errorf("dsn: its role has the powers of %s, with which statements can leave the database: %w; name a role without them", powers, domarkx.ErrInvalid)
	}
	if err != nil {
		return nil, errors.Join(err, c.end(ctx))
	}
	return c, nil
}

func (e *external) dumper(ctx context.Context) (string, []string, error) {
	folder, err := programs(places, "", "pg_dump")
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(folder, "pg_dump"), dumpEnvironment(e.config), nil
}

// dumpEnvironment is how pg_dump is told where the database is (PostgreSQL manual,
// 34.15): arguments are for everybody to see.
func dumpEnvironment(c *pgx.ConnConfig) []string {
	mode := "disable"
	if c.TLSConfig != nil {
		mode = "verify-full"
		if c.TLSConfig.InsecureSkipVerify {
			mode = "require"
		}
	}
	return append(environment(), "PGHOST="+c.Host, "PGPORT="+strconv.Itoa(int(c.Port)), "PGUSER="+c.User,
		"PGPASSWORD="+c.Password, "PGDATABASE="+c.Database, "PGSSLMODE="+mode)
}

// userSchemas are those that are not PostgreSQL's own.
const userSchemas = `nspname !~ '^pg_' AND nspname <> 'information_schema'`

// replace empties the schemas and fills them in one transaction.
func (e *external) replace(ctx context.Context, fill func(*connection) error) error {
	c, err := e.connect(ctx, forVersions)
	if err != nil {
		return err
	}
	err = c.do(ctx, "BEGIN")
	if err == nil {
		err = dropSchemas(ctx, c)
	}
	if err == nil {
		err = fill(c)
	}
	if err == nil {
		err = c.do(ctx, "COMMIT")
	}
	return errors.Join(err, c.end(ctx)) // rolls back what was not committed
}

func dropSchemas(ctx context.Context, c *connection) error {
	var names []string
	err := c.rows(ctx, "SELECT quote_ident(nspname) FROM pg_namespace WHERE "+userSchemas+" ORDER BY nspname", nil, func(row [][]byte) error {
		names = append(names, string(row[0]))
		return nil
	})
	if err != nil || len(names) == 0 {
		return err
	}
	return c.do(ctx, "DROP SCHEMA "+strings.Join(names, ", ")+" CASCADE")
}

func (*external) close(context.Context) error  { return nil }
func (*external) remove(context.Context) error { return nil }
