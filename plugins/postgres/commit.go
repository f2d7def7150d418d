package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/jackc/pgx/v5/pgconn"
)

// The files of a version.
const (
	metaFile        = "database.json"
	preFile         = "schema.sql"      // statements before the rows
	postFile        = "constraints.sql" // statements after the rows: indexes, constraints, triggers
	ownFile         = "database.sql"    // settings of the database itself; missing if empty
	tablesDirectory = "tables"
	extension       = "copy" // of files with rows, in the format of COPY
)

// A meta is the part of a version that is not SQL.
type meta struct {
	Format    int        `json:"format"`
	Public    string     `json:"public"` // see publicSQL
	Tables    []table    `json:"tables"`
	Sequences []sequence `json:"sequences"`
	Roles     []string   `json:"roles,omitempty"` // roles that the version's statements name
}

const formatNumber = 1

// A table is a table with rows.
type table struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // without generated ones
	order   string   // expressions, quoted
}

// path returns the path of a table's rows in a version.
func (t table) path() string {
	return tablesDirectory + "/" + database.FileName(t.Schema) + "/" + database.FileName(t.Name)
}

// columns returns the quoted names of the columns.
func (t table) columns() string {
	quoted := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		quoted[i] = quote(name)
	}
	return strings.Join(quoted, ", ")
}

// A sequence is the state of a sequence. Last is text, since it has 64 bits.
type sequence struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Last   string `json:"last_value"`
	Called bool   `json:"is_called"`
}

// Commit writes a consistent snapshot of the database to w.
func (r *resource) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	return r.with(ctx, forVersions, func(c *connection) error {
		return r.with(ctx, forRows, func(rows *connection) error { return r.commit(ctx, c, rows, w) })
	})
}

// beginReading begins a transaction in which the server writes names with their schemas.
const beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ''; SET LOCAL row_security = off; "

func (r *resource) commit(ctx context.Context, c, rows *connection, w domarkx.VersionWriter) error {
	if err := c.do(ctx, beginReading); err != nil {
		return err
	}
	mark, err := c.value(ctx, markSQL)
	if err != nil {
		return err
	}
	snapshot, err := c.value(ctx, "SELECT pg_export_snapshot()")
	if err != nil {
		return err
	}
	if err := rows.do(ctx, beginReading+"SET TRANSACTION SNAPSHOT "+literal(snapshot)); err != nil {
		return err
	}
	if err := refuse(ctx, c, rows); err != nil {
		return err
	}
	sections, err := r.dump(ctx, snapshot)
	if err != nil {
		return err
	}
	m, err := describe(ctx, c, rows)
	if err != nil {
		return err
	}
	settings, roles, err := own(ctx, c)
	if err != nil {
		return fmt.Errorf("read the settings of the database: %w", err)
	}
	m.Roles = roles
	v, err := database.Begin(ctx, w)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return err
	}
	for _, f := range []struct {
		path string
		data []byte
	}{{postFile, sections[1]}, {metaFile, text.Bytes()}, {ownFile, settings}, {preFile, sections[0]}} {
		switch {
		case len(f.data) > maxSQL:
			return fmt.Errorf("the database is too large for a version: its schema takes more than %d MiB of SQL: %w", maxSQL>>20, domarkx.ErrUnsupported)
		case f.path == ownFile && len(f.data) == 0:
			continue
		}
		if err := v.File(ctx, f.path, f.data); err != nil {
			return err
		}
	}
	for _, t := range m.Tables {
		if err := t.give(ctx, rows, v); err != nil {
			return fmt.Errorf("the rows of table %q.%q: %w%s", t.Schema, t.Name, err, hint(err))
		}
	}
	return r.clean(mark)
}

// hint returns advice if the server cannot plan reading a table: planning runs functions of
// indexes, which may name objects without schemas.
func hint(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) && strings.HasPrefix(said.Code, "42") {
		return "; let the functions that its indexes use name schemas, or SET search_path"
	}
	return ""
}

// give writes the rows of a table to a version.
func (t table) give(ctx context.Context, c *connection, v *database.Version) error {
	lines := v.Lines(t.path(), extension)
	w := &lineWriter{ctx: ctx, lines: lines}
	if _, err := c.CopyTo(ctx, w, fmt.Sprintf("COPY (SELECT %s FROM ONLY %s.%s AS t%s) TO STDOUT", t.columns(), quote(t.Schema), quote(t.Name), t.order)); err != nil {
		return err
	}
	if len(w.rest) > 0 {
		return fmt.Errorf("its last row does not end: %w", domarkx.ErrCorrupt)
	}
	return lines.End(ctx)
}

// A lineWriter splits its input into lines. In COPY's text format a newline ends a row and never occurs in one.
type lineWriter struct {
	ctx   context.Context
	lines *database.Lines
	rest  []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.rest = append(w.rest, p...)
			return n, nil
		}
		line := p[:i+1]
		if len(w.rest) > 0 {
			line = append(w.rest, line...)
			w.rest = w.rest[:0]
		}
		if err := w.lines.Add(w.ctx, line); err != nil {
			return 0, err
		}
		p = p[i+1:]
	}
}
