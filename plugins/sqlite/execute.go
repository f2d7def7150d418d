package sqlite

import (
	"context"
	"errors"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// Limits that each connection sets (https://www.sqlite.org/limits.html).
const (
	maxValue = 128 << 20 // bytes of a text, blob or row
	maxSQL   = 64 << 20  // bytes of a statement
)

// Execute calls the tool query, execute or schema. See [domarkx.Resource].
func (r *resource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	run, ok := map[string]func(*session, domarkx.Call) (domarkx.Result, error){
		"query": (*session).query, "execute": (*session).execute, "schema": (*session).schema,
	}[call.Tool]
	if !ok {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeUnknownTool, "no tool %q", call.Tool)
	}
	c, err := r.connect()
	if err != nil {
		return domarkx.Result{}, r.explain(err)
	}
	c.Limit(sqlite3.LimitLength, maxValue)
	c.Limit(sqlite3.LimitSQLLength, maxSQL)
	c.Limit(sqlite3.LimitWorkers, 0)
	stop := c.Watch(ctx)
	result, err := run(&session{Conn: c, dir: r.dir}, call)
	stop()
	if cerr := c.Close(); err == nil {
		err = cerr
	}
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	if err != nil && result.Attachment != nil {
		err = errors.Join(err, result.Attachment.Close())
		result = domarkx.Result{}
	}
	return result, r.explain(err)
}

// explain converts an error of SQLite into a tool error with a code.
func (r *resource) explain(err error) error {
	var e *sqlite3.Error
	if errors.Is(err, domarkx.ErrCorrupt) {
		return domarkx.NewToolError(domarkx.CodeFailed, "%v", err)
	}
	if !errors.As(err, &e) {
		return err
	}
	switch sqlite3.Primary(err) {
	case sqlite3.Busy, sqlite3.Locked:
		return domarkx.NewToolError(domarkx.CodeFailed, "%s: another program is using the database; try again when it is done", e.Message)
	case sqlite3.Denied:
		return domarkx.NewToolError(domarkx.CodeRefused, "%s: statements can use nothing outside of the database, and queries cannot change it", e.Message)
	}
	return domarkx.NewToolError(domarkx.CodeFailed, "%s", e.Message)
}

// A session is the connection of one call.
type session struct {
	*sqlite3.Conn
	dir string
}

func (s *session) query(call domarkx.Call) (domarkx.Result, error) {
	sql, args, err := database.Statement(call)
	if err != nil {
		return domarkx.Result{}, err
	}
	if err := s.readOnly(); err != nil {
		return domarkx.Result{}, err
	}
	stmt, rest, err := s.first(sql)
	if err != nil {
		return domarkx.Result{}, err
	}
	if stmt == nil {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "no statement in the SQL")
	}
	defer stmt.Close()
	if more, _, err := s.first(rest); more != nil || err != nil {
		if more != nil {
			err = domarkx.NewToolError(domarkx.CodeInvalid, "more than one statement, expected one; execute runs several")
		}
		return domarkx.Result{}, errors.Join(err, more.Close())
	}
	if !stmt.ReadOnly() {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeRefused, "the statement changes the database; execute does that")
	}
	if err := bind(stmt, args); err != nil {
		return domarkx.Result{}, err
	}
	rows, err := s.rows(stmt)
	if err != nil {
		return domarkx.Result{}, err
	}
	return rows.Result()
}

// readOnly makes the connection read-only and restricts its statements to queries.
func (s *session) readOnly() error {
	if err := s.Exec("PRAGMA query_only = 1"); err != nil {
		return err
	}
	s.Restrict(queries)
	return nil
}

// first prepares the first statement of sql, and returns the rest of sql. The statement is nil if there is none.
func (s *session) first(sql string) (*sqlite3.Stmt, string, error) {
	for sql != "" {
		stmt, rest, err := s.Prepare(sql)
		if stmt != nil || err != nil {
			return stmt, rest, err
		}
		sql = rest
	}
	return nil, "", nil
}

// rows runs a statement and collects its rows. If the rows exceed the limits, it ends a statement that only reads, and
// lets others run to their end.
func (s *session) rows(stmt *sqlite3.Stmt) (*database.Rows, error) {
	rows, err := database.NewRows(stmt.Columns(), s.dir)
	if err != nil {
		return nil, err
	}
	for {
		found, err := stmt.Step()
		if err != nil {
			return nil, errors.Join(err, rows.Discard())
		}
		if !found {
			return rows, nil
		}
		row := make([]jsonvalue.Value, len(stmt.Columns()))
		for i := range row {
			row[i] = database.Value(stmt.Column(i))
		}
		more, err := rows.Add(row)
		if err != nil {
			return nil, errors.Join(err, rows.Discard())
		}
		if !more && stmt.ReadOnly() {
			return rows, nil
		}
	}
}

// bind sets the parameters of a statement.
func bind(stmt *sqlite3.Stmt, args []database.Argument) error {
	parameters, byName, used := stmt.Parameters(), map[string]any{}, map[string]bool{}
	for _, a := range args {
		byName[strings.TrimLeft(a.Name, ":@$")] = a.Value
	}
	named := len(args) > 0 && args[0].Name != "" // Statement returns either no names, or only names
	if !named && len(args) != len(parameters) {
		return domarkx.NewToolError(domarkx.CodeInvalid, "%d args for %d parameters", len(args), len(parameters))
	}
	for i, p := range parameters {
		name := strings.TrimLeft(p, ":@$")
		value, ok := byName[name]
		if !named {
			value = args[i].Value
		} else if !ok || p == "" {
			return domarkx.NewToolError(domarkx.CodeInvalid, "args has nothing for parameter %d %q", i+1, p)
		}
		used[name] = true
		if err := stmt.Bind(i+1, value); err != nil {
			return err
		}
	}
	if named && len(used) < len(byName) {
		return domarkx.NewToolError(domarkx.CodeInvalid, "args has names for which the statement has no parameters")
	}
	return nil
}
