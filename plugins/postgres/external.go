package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/jackc/pgx/v5"
)

// An external store is an existing database of the user.
type external struct{ config *pgx.ConnConfig }

func (*external) shared() bool { return true }

// connect rejects roles with which SQL can leave the database.
func (e *external) connect(ctx context.Context, as purpose) (*connection, error) {
	c, err := connect(ctx, e.config, as)
	if err != nil {
		return nil, fmt.Errorf("connect to the database of the dsn: %w", err)
	}
	powers, err := c.value(ctx, `SELECT coalesce(string_agg(rolname, ', ' ORDER BY rolname), '') FROM pg_roles
WHERE (rolsuper OR rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))
AND pg_has_role(current_user, oid, 'member')`)
	if err == nil && powers != "" {
		err = fmt.Errorf("dsn: its role has the powers of %s, with which statements can reach beyond the database: %w; use a role without them", powers, domarkx.ErrInvalid)
	}
	if err != nil {
		return nil, errors.Join(err, c.end(ctx))
	}
	return c, nil
}

func (e *external) dumper(ctx context.Context) (string, []string, error) {
	directory, err := programs(places, "", "pg_dump", "pg_restore")
	if err != nil {
		return "", nil, err
	}
	return directory, dumpEnvironment(e.config), nil
}

// dumpEnvironment returns the environment that names the database to pg_dump (PostgreSQL manual,
// 34.15). Arguments would be visible to everybody.
func dumpEnvironment(c *pgx.ConnConfig) []string {
	mode := "disable"
	if c.TLSConfig != nil {
		mode = "verify-full"
		if c.TLSConfig.InsecureSkipVerify {
			mode = "require"
		}
	}
	return append(environment(), "PGHOST="+c.Host, "PGPORT="+strconv.Itoa(int(c.Port)), "PGUSER="+c.User,
		"PGPASSWORD="+c.Password, "PGDATABASE="+c.Database, "PGSSLMODE="+mode, "PGOPTIONS="+plainOptions())
}

// userSchemas are the schemas that are not PostgreSQL's own.
const userSchemas = `nspname !~ '^pg_' AND nspname <> 'information_schema'`

// replace empties the database and fills it in one transaction.
func (e *external) replace(ctx context.Context, roles []string, fill func(*connection) error) error {
	c, err := e.connect(ctx, forVersions)
	if err != nil {
		return err
	}
	if err = needRoles(ctx, c, roles); err == nil {
		err = c.transaction(ctx, func() error {
			if err := empty(ctx, c); err != nil {
				return err
			}
			return fill(c)
		})
	}
	return errors.Join(err, c.end(ctx))
}

// ownSQL generates statements that remove everything except PostgreSQL's own schemas.
const ownSQL = `SELECT 'DROP PUBLICATION ' || quote_ident(pubname) FROM pg_publication WHERE pg_get_userbyid(pubowner) = current_user
UNION ALL SELECT 'SELECT count(lo_unlink(oid)) FROM pg_largeobject_metadata WHERE pg_get_userbyid(lomowner) = current_user'
UNION ALL SELECT 'DROP SERVER ' || quote_ident(srvname) || ' CASCADE' FROM pg_foreign_server WHERE pg_get_userbyid(srvowner) = current_user
UNION ALL SELECT 'DROP EXTENSION ' || quote_ident(extname) || ' CASCADE' FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE pg_get_userbyid(extowner) = current_user AND NOT (` + userSchemas + `)
UNION ALL SELECT 'DROP SCHEMA ' || string_agg(quote_ident(nspname), ', ' ORDER BY nspname) || ' CASCADE' FROM pg_namespace WHERE ` + userSchemas + ` HAVING count(*) > 0`

// defaultsSQL resets the settings to those of a new database, except what only superusers may set. The
// privileges on the database and the role's default privileges stay as they are.
const defaultsSQL = `DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I RESET ALL', current_database());
  EXECUTE format('COMMENT ON DATABASE %I IS NULL', current_database());
  EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT -1 IS_TEMPLATE false', current_database());
END $$`

// empty resets the database to the state of a new one.
func empty(ctx context.Context, c *connection) error {
	statements, err := c.list(ctx, ownSQL)
	for _, sql := range append(statements, defaultsSQL) {
		if err == nil {
			err = c.do(ctx, sql)
		}
	}
	return err
}

func (*external) close(context.Context) error  { return nil }
func (*external) remove(context.Context) error { return nil }
