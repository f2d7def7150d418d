package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/database"
)

// The files of a version.
const (
	metaFile     = "database.json"
	preFile      = "schema.sql"      // what the rows need
	postFile     = "constraints.sql" // what needs the rows: indexes, constraints, triggers
	tablesFolder = "tables"
	extension    = "copy" // of rows, as COPY writes them
)

// A meta is what a version says of the database besides its SQL.
type meta struct {
	Format       int        `json:"format"`
	Public       string     `json:"public"` // see publicSQL
	Tables       []table    `json:"tables"`
	Sequences    []sequence `json:"sequences"`
	Materialized []string   `json:"materialized"` // views that are filled, quoted, in the order they were made
}

const formatNumber = 1

// A table is one that has rows.
type table struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // without generated ones
	order   string   // expressions, quoted
}

// path is where the rows of a table are.
func (t table) path() string {
	return tablesFolder + "/" + database.FileName(t.Schema) + "/" + database.FileName(t.Name)
}

// columns are the names of the columns, quoted.
func (t table) columns() string {
	quoted := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		quoted[i] = quote(name)
	}
	return strings.Join(quoted, ", ")
}

// A sequence is what a sequence counted to. Last is text for its 64 bits.
type sequence struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Last   string `json:"last_value"`
	Called bool   `json:"is_called"`
}

// Commit gives the database to w, as of one moment.
func (r *resource) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	c, err := r.database.connect(ctx, forVersions)
	if err != nil {
		return err
	}
	err = r.commit(ctx, c, w)
	return errors.Join(err, c.end(ctx))
}

func (r *resource) commit(ctx context.Context, c *connection, w domarkx.VersionWriter) error {
	// Names without their schemas stay out of what the server writes.
	if err := c.do(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ''; SET LOCAL row_security = off"); err != nil {
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
	if err := refuse(ctx, c); err != nil {
		return err
	}
	sections, err := r.dump(ctx, snapshot)
	if err != nil {
		return err
	}
	m, err := describe(ctx, c)
	if err != nil {
		return err
	}
	v, err := database.Begin(ctx, w, r.in(knownName))
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
	}{{postFile, sections[1]}, {metaFile, text.Bytes()}, {preFile, sections[0]}} {
		if err := v.File(ctx, f.path, f.data); err != nil {
			return err
		}
	}
	for _, t := range m.Tables {
		if err := t.give(ctx, c, v); err != nil {
			return fmt.Errorf("the rows of table %q.%q: %w", t.Schema, t.Name, err)
		}
	}
	if err := v.Finish(); err != nil {
		return err
	}
	return r.clean(mark)
}

// refuse names what no version can hold.
func refuse(ctx context.Context, c *connection) error {
	n, err := c.value(ctx, "SELECT count(*) FROM pg_largeobject_metadata")
	if err != nil {
		return err
	}
	if n != "0" {
		return fmt.Errorf("the database has %s large objects, which no version can hold: %w; use bytea, or remove them with lo_unlink", n, domarkx.ErrUnsupported)
	}
	return nil
}

// give adds the rows of a table to a version.
func (t table) give(ctx context.Context, c *connection, v *database.Version) error {
	lines := v.Lines(t.path(), extension)
	w := &lineWriter{ctx: ctx, lines: lines}
	sql := fmt.Sprintf("COPY (SELECT %s FROM ONLY %s.%s AS t%s) TO STDOUT", t.columns(), quote(t.Schema), quote(t.Name), t.order)
	if _, err := c.CopyTo(ctx, w, sql); err != nil {
		return err
	}
	if len(w.rest) > 0 {
		return fmt.Errorf("its last row does not end: %w", domarkx.ErrCorrupt)
	}
	return lines.End(ctx)
}

// A lineWriter cuts what is written into lines: in COPY's text format a newline ends
// a row and is in none.
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
