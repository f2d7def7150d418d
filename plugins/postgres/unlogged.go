//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// witness is an unlogged table in the database of the superuser. PostgreSQL empties it, as all
// unlogged tables, when it recovers from a crash.
const witness = "git_domarkx_witness"

// unloggedSQL lists the tables and sequences that a crash empties or resets.
const unloggedSQL = `SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relpersistence = 'u' AND c.relkind IN ('r', 'S') AND ` + userSchemas + ` ORDER BY 1`

// nameLost warns, once for each crash of the server, of the tables that lost their rows in it.
func (s *server) nameLost(ctx context.Context, admin *connection) error {
	there, err := admin.value(ctx, "SELECT to_regclass($1) IS NOT NULL", witness)
	if err != nil {
		return err
	}
	if there == "t" {
		if rows, err := admin.value(ctx, "SELECT count(*) FROM "+witness); err != nil || rows != "0" {
			return err
		}
		if err := s.warnLost(ctx); err != nil {
			return fmt.Errorf("list the unlogged tables after a crash: %w", err)
		}
	}
	return admin.do(ctx, "CREATE UNLOGGED TABLE IF NOT EXISTS "+witness+" (); INSERT INTO "+witness+" DEFAULT VALUES")
}

func (s *server) warnLost(ctx context.Context) error {
	c, err := s.to(ctx, superuser, databaseName)
	if err != nil {
		return err
	}
	var lost []string
	more := 0
	err = c.rows(ctx, unloggedSQL, nil, func(row [][]byte) error {
		if len(lost) < maxNamed {
			lost = append(lost, string(row[0]))
		} else {
			more++
		}
		return nil
	})
	if err := errors.Join(err, c.end(ctx)); err != nil || len(lost) == 0 || s.warn == nil {
		return err
	}
	names := strings.Join(lost, ", ")
	if more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	s.warn("the PostgreSQL server crashed or was killed, and PostgreSQL empties unlogged tables and resets unlogged sequences then: " + names + "; a version from before has what they held")
	return nil
}
