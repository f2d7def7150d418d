package postgres

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database"
)

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

func (r *resource) schema(ctx context.Context, c *connection, _ domarkx.Call) (domarkx.Result, error) {
	text, err := c.value(ctx, schemaSQL)
	if err != nil {
		return domarkx.Result{}, err
	}
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		return domarkx.Result{}, database.Errorf(domarkx.CodeFailed, "the server returned the schema in an unknown form: %v", err)
	}
	return domarkx.Result{Value: v}, nil
}
