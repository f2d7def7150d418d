package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/jackc/pgx/v5/pgconn"
)

// maxSQL limits the statements of a version in bytes, since they are read as a whole.
const maxSQL = 64 << 20

var _ domarkx.LoadChecker = (*resource)(nil)

// CheckLoad rejects an invalid version, and one that names roles which a database of the user does
// not have. See [domarkx.LoadChecker].
func (r *resource) CheckLoad(ctx context.Context, reader domarkx.VersionReader, _, version string) error {
	v, err := open(ctx, reader, version)
	if err != nil {
		return fmt.Errorf("version %s of a PostgreSQL database: %w", version, err)
	}
	if !r.database.shared() || len(v.meta.Roles) == 0 {
		return nil
	}
	return r.with(ctx, forVersions, func(c *connection) error { return needRoles(ctx, c, v.meta.Roles) })
}

// Load replaces the database by a version. It fills a second database, or uses a transaction, so that
// the old or the new state exists at any time.
func (r *resource) Load(ctx context.Context, reader domarkx.VersionReader, version string) error {
	v, err := open(ctx, reader, version)
	if err != nil {
		return fmt.Errorf("version %s of a PostgreSQL database: %w", version, err)
	}
	if err := r.dirty(); err != nil {
		return err
	}
	if err := r.database.replace(ctx, v.meta.Roles, func(c *connection) error { return v.fill(ctx, c) }); err != nil {
		return err
	}
	mark := ""
	if r.database.shared() {
		if mark, err = r.mark(ctx); err != nil {
			return err
		}
	}
	return r.clean(mark)
}

// A stored is a version to be loaded, without its rows.
type stored struct {
	reader    domarkx.VersionReader
	meta      meta
	pre, post []byte
	own       []byte
	rows      [][]domarkx.File // files with rows, by table
}

// open reads everything in a version except the rows, and checks it.
func open(ctx context.Context, reader domarkx.VersionReader, version string) (*stored, error) {
	files, err := database.Files(ctx, reader, version)
	if err != nil {
		return nil, err
	}
	v := &stored{reader: reader}
	text, err := database.Read(ctx, reader, files[metaFile], maxSQL)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &v.meta); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", metaFile, err, domarkx.ErrCorrupt)
	}
	if v.meta.Format != formatNumber {
		return nil, fmt.Errorf("%s: format %d: %w", metaFile, v.meta.Format, domarkx.ErrUnsupported)
	}
	for path, sql := range map[string]*[]byte{preFile: &v.pre, postFile: &v.post, ownFile: &v.own} {
		f, ok := files[path]
		if path == ownFile && !ok {
			continue
		}
		if *sql, err = database.Read(ctx, reader, f, maxSQL); err != nil {
			return nil, err
		}
	}
	found := map[string][]domarkx.File{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path, "large_objects.") {
			return nil, fmt.Errorf("%s: an earlier commit of this program stored large objects, which a load does not create any more: %w", path, domarkx.ErrUnsupported)
		}
		found[tableOf(path)] = append(found[tableOf(path)], files[path])
	}
	for _, t := range v.meta.Tables {
		files, ok := found[t.path()]
		if !ok {
			return nil, fmt.Errorf("no rows of table %q.%q: %w", t.Schema, t.Name, domarkx.ErrCorrupt)
		}
		v.rows = append(v.rows, files)
	}
	return v, nil
}

// fill creates the schema and the rows in a transaction.
func (v *stored) fill(ctx context.Context, c *connection) error {
	if err := makePublic(ctx, c, v.meta.Public); err != nil {
		return err
	}
	if err := loadLanguage(ctx, c); err != nil {
		return err
	}
	if err := c.do(ctx, string(v.pre)); err != nil {
		return fmt.Errorf("create the schema: %w", err)
	}
	if err := v.copyTables(ctx, c); err != nil {
		return err
	}
	for _, s := range v.meta.Sequences {
		name := quote(s.Schema) + "." + quote(s.Name)
		if _, err := c.value(ctx, "SELECT setval($1::regclass, $2::bigint, $3::boolean)", name, s.Last, fmt.Sprint(s.Called)); err != nil {
			return fmt.Errorf("set sequence %s: %w", name, err)
		}
	}
	// pg_dump's statements turn row security off, under which its owner filled a view.
	post := bytes.Replace(v.post, []byte("\nSET row_security = off;\n"), []byte("\nSET row_security = on;\n"), 1)
	if err := makeLast(ctx, c, post); err != nil {
		return fmt.Errorf("create indexes, constraints and triggers: %w", err)
	}
	if err := c.do(ctx, string(v.own)); err != nil {
		return fmt.Errorf("set the database: %w", err)
	}
	return nil
}

// loadLanguage loads PL/pgSQL so that its settings are known: only superusers may set unknown ones for functions.
func loadLanguage(ctx context.Context, c *connection) error {
	there, err := c.value(ctx, "SELECT EXISTS (SELECT FROM pg_language WHERE lanname = 'plpgsql')")
	if err == nil && there == "t" {
		err = c.do(ctx, "DO LANGUAGE plpgsql 'BEGIN END'")
	}
	return err
}

// copyTables copies the rows of all tables. Since a constraint may read other tables, which must be
// filled before, it retries the tables that fail.
func (v *stored) copyTables(ctx context.Context, c *connection) error {
	if err := searchSchemas(ctx, c); err != nil {
		return err
	}
	var todo []int
	for i := range v.meta.Tables {
		todo = append(todo, i)
	}
	for len(todo) > 0 {
		var failed []int
		var first error
		for _, i := range todo {
			t := v.meta.Tables[i]
			err := attempt(ctx, c, func() error { return v.copy(ctx, c, t, v.rows[i]) })
			var said *pgconn.PgError
			if err != nil && first == nil {
				first = fmt.Errorf("the rows of table %q.%q: %w", t.Schema, t.Name, err)
			}
			if err != nil {
				if !errors.As(err, &said) {
					return first
				}
				failed = append(failed, i)
			}
		}
		if len(failed) == len(todo) {
			return first
		}
		todo = failed
	}
	return c.do(ctx, emptyPath)
}

const emptyPath = "SELECT pg_catalog.set_config('search_path', '', false);"

// searchSchemas sets a search path for functions that name no schemas: creating constraints and indexes
// calls such functions.
func searchSchemas(ctx context.Context, c *connection) error {
	path, err := c.value(ctx, "SELECT coalesce(string_agg(quote_ident(nspname), ', ' ORDER BY nspname <> 'public', nspname), '') FROM pg_namespace WHERE "+userSchemas)
	if err == nil && path != "" {
		err = c.do(ctx, "SET search_path = "+path)
	}
	return err
}

// makeLast creates the objects after the rows. pg_dump expects names without a schema to be
// PostgreSQL's own; other schemas are searched only if functions need it.
func makeLast(ctx context.Context, c *connection, sql []byte) error {
	err := attempt(ctx, c, func() error { return c.do(ctx, string(sql)) })
	if err == nil || ctx.Err() != nil {
		return err
	}
	if ferr := searchSchemas(ctx, c); ferr != nil {
		return errors.Join(err, ferr)
	}
	again := attempt(ctx, c, func() error { return c.do(ctx, string(bytes.Replace(sql, []byte(emptyPath), nil, 1))) })
	if again != nil {
		return err
	}
	return c.do(ctx, emptyPath)
}

// attempt runs a part of a transaction that continues if the part fails.
func attempt(ctx context.Context, c *connection, do func() error) error {
	if err := c.do(ctx, "SAVEPOINT domarkx"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		return c.do(ctx, "RELEASE SAVEPOINT domarkx")
	}
	return errors.Join(err, c.do(ctx, "ROLLBACK TO SAVEPOINT domarkx; RELEASE SAVEPOINT domarkx"))
}

func (v *stored) copy(ctx context.Context, c *connection, t table, rows []domarkx.File) error {
	columns := ""
	if len(t.Columns) > 0 { // a table may have no columns
		columns = "(" + t.columns() + ")"
	}
	from, to := io.Pipe()
	go func() {
		var err error
		for _, f := range rows {
			if err = database.Copy(ctx, v.reader, f, to); err != nil {
				break
			}
		}
		to.CloseWithError(err)
	}()
	_, err := c.CopyFrom(ctx, from, fmt.Sprintf("COPY %s.%s %s FROM STDIN", quote(t.Schema), quote(t.Name), columns))
	from.CloseWithError(context.Canceled)
	return err
}

// tableOf returns the path of the table whose rows a file contains.
func tableOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return ""
	}
	name, ok := strings.CutSuffix(parts[2], ".rows")
	if !ok || len(parts) != 5 {
		name, _ = strings.CutSuffix(parts[2], "."+extension)
	}
	return strings.Join(parts[:2], "/") + "/" + name
}
