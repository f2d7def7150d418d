package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// Execute calls query, execute or schema.
func (r *resource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	run, ok := map[string]func(context.Context, *connection, string, [][]byte) (domarkx.Result, error){
		"query": r.query, "execute": r.execute, "schema": r.schema,
	}[call.Tool]
	if !ok {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeUnknownTool, "no tool %q", call.Tool)
	}
	sql, args, err := database.Statement(call)
	if err != nil {
		return domarkx.Result{}, err
	}
	values, err := arguments(args)
	if err != nil {
		return domarkx.Result{}, err
	}
	c, err := r.database.connect(ctx, forTools)
	if err != nil {
		return domarkx.Result{}, err
	}
	c.copies.on = true
	result, err := run(ctx, c, sql, values)
	broke := c.IsClosed()
	_ = c.end(ctx) // the result stands even if the connection cannot be closed
	if ctx.Err() != nil && err != nil {
		return domarkx.Result{}, ctx.Err()
	}
	if err != nil {
		return domarkx.Result{}, explain(err, broke)
	}
	return result, nil
}

// Error codes that mean a refusal (PostgreSQL manual, appendix A).
var refusals = map[string]bool{
	"25006": true, // read_only_sql_transaction
	"42501": true, // insufficient_privilege
}

// protocolViolation can only be caused by a wrong number of args.
const protocolViolation = "08P01"

// explain converts an error of the server, or of a connection that broke, to one of a tool.
func explain(err error, broke bool) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if broke {
			return domarkx.NewToolError(domarkx.CodeFailed, "the connection to the database broke, perhaps because its server ended: %v; look at what the statements left, and make the call again if needed", err)
		}
		return err
	}
	code := domarkx.CodeFailed
	if refusals[e.Code] {
		code = domarkx.CodeRefused
	}
	message := fmt.Sprintf("%s (SQLSTATE %s)", e.Message, e.Code)
	if e.Code == protocolViolation {
		code, message = domarkx.CodeInvalid, "args do not fit the statement: "+message
	}
	for _, more := range []string{e.Detail, e.Hint} {
		if more != "" {
			message += "\n" + more
		}
	}
	if e.Position > 0 {
		message += fmt.Sprintf("\nat character %d", e.Position)
	}
	return domarkx.NewToolError(code, "%s", message)
}

// arguments returns the parameters of a statement as text.
func arguments(args []database.Argument) ([][]byte, error) {
	var values [][]byte
	for _, a := range args {
		if a.Name != "" {
			return nil, domarkx.NewToolError(domarkx.CodeInvalid, "args: %q is a name, expected a list for $1, $2, …", a.Name)
		}
		switch v := a.Value.(type) {
		case nil:
			values = append(values, nil)
		case bool:
			values = append(values, strconv.AppendBool(nil, v))
		case int64:
			values = append(values, strconv.AppendInt(nil, v, 10))
		case float64:
			values = append(values, strconv.AppendFloat(nil, v, 'g', -1, 64))
		case string:
			if strings.ContainsRune(v, 0) {
				return nil, domarkx.NewToolError(domarkx.CodeInvalid, "args: a text with a NUL, which PostgreSQL cannot store; give bytes as base64")
			}
			values = append(values, append([]byte{}, v...))
		case []byte:
			values = append(values, append([]byte(`\x`), hex.EncodeToString(v)...))
		}
	}
	return values, nil
}

func (r *resource) query(ctx context.Context, c *connection, sql string, values [][]byte) (domarkx.Result, error) {
	// Roll back, even if a statement managed to write.
	if err := c.do(ctx, "BEGIN READ ONLY"); err != nil {
		return domarkx.Result{}, err
	}
	rows, _, err := r.read(c.ExecParams(ctx, sql, values, nil, nil, nil))
	if err == nil && c.copies.refused() != nil {
		err = errors.Join(c.copies.refused(), rows.Discard())
	}
	if err != nil {
		return domarkx.Result{}, err
	}
	return rows.Result()
}

// execute runs statements in the implicit transaction of the protocol: they take effect together or
// not at all, unless they control transactions themselves (PostgreSQL manual, 55.2.2.1).
func (r *resource) execute(ctx context.Context, c *connection, sql string, values [][]byte) (domarkx.Result, error) {
	if strings.ContainsRune(sql, 0) {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "a NUL in the SQL")
	}
	if err := r.dirty(); err != nil {
		return domarkx.Result{}, err
	}
	var affected int64
	var last *database.Rows
	keep := func(result *pgconn.ResultReader) error {
		if last != nil {
			if err := last.Discard(); err != nil {
				return err
			}
			last = nil
		}
		rows, tag, err := r.read(result)
		if err != nil {
			return err
		}
		if tag.Insert() || tag.Update() || tag.Delete() || strings.HasPrefix(tag.String(), "MERGE") {
			affected += tag.RowsAffected()
		}
		if len(result.FieldDescriptions()) > 0 {
			last = rows
			return nil
		}
		return rows.Discard()
	}
	var err error
	if len(values) > 0 {
		err = keep(c.ExecParams(ctx, sql, values, nil, nil, nil))
	} else {
		results := c.Exec(ctx, sql)
		for err == nil && results.NextResult() {
			err = keep(results.ResultReader())
		}
		err = errors.Join(err, results.Close())
	}
	if err == nil {
		err = c.copies.refused()
	}
	if err == nil && c.TxStatus() != 'I' {
		err = domarkx.NewToolError(domarkx.CodeInvalid, "the transaction was left open, and is rolled back; end it with COMMIT")
	}
	if err != nil {
		if last != nil {
			err = errors.Join(err, last.Discard())
		}
		return domarkx.Result{}, err
	}
	if last != nil {
		return last.Result("rows_affected", affected)
	}
	return domarkx.Result{Value: jsonvalue.ObjectOf("rows_affected", affected)}, nil
}

func (r *resource) read(result *pgconn.ResultReader) (*database.Rows, pgconn.CommandTag, error) {
	fields := result.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	rows, err := database.NewRows(names, r.dir)
	for err == nil && result.NextRow() {
		row := make([]jsonvalue.Value, len(fields))
		for i, column := range result.Values() {
			row[i] = database.Value(value(fields[i].DataTypeOID, column))
		}
		_, err = rows.Add(row)
	}
	tag, cerr := result.Close()
	if err = errors.Join(err, cerr); err != nil {
		err = errors.Join(err, rows.Discard())
	}
	return rows, tag, err
}

// value converts a column from text to a value for package database.
func value(oid uint32, text []byte) any {
	if text == nil {
		return nil
	}
	s := string(text)
	switch oid {
	case pgtype.BoolOID:
		return s == "t"
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	case pgtype.Float4OID, pgtype.Float8OID: // the digits of a float4 also identify a float8
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
	case pgtype.ByteaOID:
		if b, err := hex.DecodeString(strings.TrimPrefix(s, `\x`)); err == nil && strings.HasPrefix(s, `\x`) {
			return b
		}
	}
	return s
}

// schemaSQL computes the result of the tool schema on the server.
const schemaSQL = `SELECT json_build_object('tables', coalesce(json_agg(json_build_object(
  'schema', n.nspname, 'name', c.relname,
  'type', CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'table' END,
  'definition', CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
  'columns', (SELECT coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
      'not_null', a.attnotnull, 'default', pg_get_expr(d.adbin, d.adrelid)) ORDER BY a.attnum), '[]')
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  'indexes', (SELECT coalesce(json_agg(json_build_object('name', ic.relname, 'unique', i.indisunique, 'primary', i.indisprimary,
      'sql', pg_get_indexdef(i.indexrelid)) ORDER BY ic.relname), '[]')
    FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid WHERE i.indrelid = c.oid),
  'constraints', (SELECT coalesce(json_agg(json_build_object('name', k.conname, 'sql', pg_get_constraintdef(k.oid)) ORDER BY k.conname), '[]')
    FROM pg_constraint k WHERE k.conrelid = c.oid),
  'triggers', (SELECT coalesce(json_agg(json_build_object('name', t.tgname, 'sql', pg_get_triggerdef(t.oid)) ORDER BY t.tgname), '[]')
    FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
) ORDER BY n.nspname, c.relname), '[]'))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ` + userSchemas

func (r *resource) schema(ctx context.Context, c *connection, _ string, _ [][]byte) (domarkx.Result, error) {
	text, err := c.value(ctx, schemaSQL)
	if err != nil {
		return domarkx.Result{}, err
	}
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeFailed, "the server returned the schema in an unknown form: %v", err)
	}
	return domarkx.Result{Value: v}, nil
}
