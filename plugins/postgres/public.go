package postgres

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
)

// publicSQL returns the origin of the schema public, which CREATE DATABASE creates and dumps omit:
// "default" for that one, "own" for one that a statement created, "" for none.
const publicSQL = `SELECT coalesce((SELECT CASE WHEN r.rolsuper OR r.rolname = 'pg_database_owner' THEN 'default' ELSE 'own' END
FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'public'), '')`

// makePublic creates or removes the schema public so that it is as in a version.
func makePublic(ctx context.Context, c *connection, want string) error {
	have, err := c.value(ctx, publicSQL)
	if err != nil || have == want {
		return err
	}
	if have != "" {
		if err := c.do(ctx, "DROP SCHEMA public CASCADE"); err != nil {
			return err
		}
	}
	switch want {
	case "":
		return nil
	case "own":
		return c.do(ctx, "CREATE SCHEMA public")
	case "default":
		return c.do(ctx, "CREATE SCHEMA public; ALTER SCHEMA public OWNER TO pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC; COMMENT ON SCHEMA public IS 'standard public schema'")
	}
	return fmt.Errorf("schema public is %q: %w", want, domarkx.ErrCorrupt)
}
