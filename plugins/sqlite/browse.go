package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// Limits of the rows in a version, in bytes. Each commit reads all rows, so that they must be few.
const (
	maxTable = 4 << 20  // for one table
	maxShown = 16 << 20 // for all tables
)

// A table is a table with rows of its own, and not a virtual one.
type table struct {
	name    string
	columns []string // without generated columns
}

// browse adds the schema and the rows to a version. They are for readers only: the database is restored from its bytes.
func browse(ctx context.Context, v *database.Version, c *sqlite3.Conn) error {
	c.Restrict(reads)
	schema, err := definitions(c)
	var tables []table
	if err == nil {
		tables, err = listTables(c)
	}
	if unbrowsable(ctx, err) {
		return v.File(ctx, brokenFile, []byte("The database cannot be read: it is broken, or no SQLite database. Its bytes are in database.sqlite.\n"))
	}
	if err != nil {
		return err
	}
	if err := v.File(ctx, schemaFile, []byte(schema)); err != nil {
		return err
	}
	left := maxShown
	c.Limit(sqlite3.LimitLength, maxTable) // larger values are not shown
	for _, t := range tables {
		rows, err := t.read(c, min(maxTable, left))
		for _, row := range rows {
			left -= len(row)
		}
		path := tablesDirectory + "/" + database.FileName(t.name)
		switch {
		case errors.Is(err, errTooMany), sqlite3.Primary(err) == sqlite3.TooBig:
			left -= min(maxTable, left)
			err = v.File(ctx, path+".txt", []byte("The table has too many rows to be shown here, or too large ones. They are kept, and a query of the restored database finds them.\n"))
		case unbrowsable(ctx, err):
			err = v.File(ctx, path+".txt", []byte("The rows cannot be read: the database is broken. Its bytes are in ../database.sqlite.\n"))
		case err == nil:
			lines := v.Lines(path, "jsonl")
			for _, row := range rows {
				err = errors.Join(err, lines.Add(ctx, row))
			}
			err = errors.Join(err, lines.End(ctx))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errTooMany reports that a table has too many rows to show.
var errTooMany = errors.New("too many rows")

// unbrowsable reports whether an error is due to the database's content. Its bytes can be stored anyway.
func unbrowsable(ctx context.Context, err error) bool {
	var e *sqlite3.Error
	return ctx.Err() == nil && errors.As(err, &e) && sqlite3.Primary(err) != sqlite3.Busy
}

func text(s *sqlite3.Stmt, i int) string {
	t, _ := s.Column(i).(string)
	return t
}

// definitions returns the statements that create the tables, indexes, views and triggers.
func definitions(c *sqlite3.Conn) (string, error) {
	var b strings.Builder
	const sql = `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL
ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, tbl_name, name`
	err := c.Query(sql, nil, func(s *sqlite3.Stmt) error {
		b.WriteString(text(s, 0) + ";\n")
		return nil
	})
	return b.String(), err
}

// listTables returns the tables, sorted by name, without virtual tables, which have no rows of their own.
func listTables(c *sqlite3.Conn) ([]table, error) {
	var tables []table
	const sql = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND name <> 'sqlite_schema'`
	err := c.Query(sql, nil, func(s *sqlite3.Stmt) error {
		tables = append(tables, table{name: text(s, 0)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(tables, func(a, b table) int { return cmp.Compare(a.name, b.name) })
	for i := range tables {
		t := &tables[i]
		err := c.Query("PRAGMA main.table_xinfo("+quote(t.name)+")", nil, func(s *sqlite3.Stmt) error {
			if hidden, _ := s.Column(6).(int64); hidden == 0 {
				t.columns = append(t.columns, text(s, 1))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// read returns the rows as JSON objects, one per line, in the order of their keys, in which SQLite stores them. It
// returns errTooMany if they have more than limit bytes.
func (t table) read(c *sqlite3.Conn, limit int) ([][]byte, error) {
	if len(t.columns) == 0 {
		return nil, nil
	}
	quoted := make([]string, len(t.columns))
	for i, column := range t.columns {
		quoted[i] = quote(column)
	}
	members := make([]jsonvalue.Member, len(t.columns))
	var rows [][]byte
	err := c.Query(fmt.Sprintf("SELECT %s FROM main.%s NOT INDEXED", strings.Join(quoted, ", "), quote(t.name)), nil, func(s *sqlite3.Stmt) error {
		for i, name := range t.columns {
			members[i] = jsonvalue.Member{Name: name, Value: database.Value(s.Column(i))}
		}
		row := append(jsonvalue.ObjectValue(members...).AppendJSON(nil, "", ""), '\n')
		if limit -= len(row); limit < 0 {
			return errTooMany
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
