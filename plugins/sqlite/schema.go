package sqlite

import (
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

const (
	tablesSQL = `SELECT l.name, l.type, s.sql FROM pragma_table_list AS l
LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
WHERE l.schema = 'main' AND l.name NOT IN ('sqlite_schema', 'sqlite_temp_schema') ORDER BY l.name`
	columnsSQL  = `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid`
	indexesSQL  = `SELECT l.name, l."unique", s.sql FROM pragma_index_list(?) AS l LEFT JOIN sqlite_schema AS s ON s.name = l.name ORDER BY l.name`
	indexedSQL  = `SELECT name FROM pragma_index_info(?) ORDER BY seqno`
	triggersSQL = `SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name`
)

func (s *session) schema(domarkx.Call) (domarkx.Result, error) {
	if err := s.readOnly(); err != nil {
		return domarkx.Result{}, err
	}
	tables, err := s.objects(tablesSQL, nil, "name", "type", "sql")
	if err != nil {
		return domarkx.Result{}, err
	}
	for i, t := range tables {
		name, _ := t.Get("name")
		columns, err := s.objects(columnsSQL, []any{name.Text()}, "name", "type", "not_null", "default", "primary_key", "hidden")
		if kind, _ := t.Get("type"); (kind.Text() == "virtual" || kind.Text() == "view") && sqlite3.Primary(err) == sqlite3.Failed {
			columns, err = nil, nil // its columns cannot be listed: it needs a missing extension or missing tables
		}
		if err != nil {
			return domarkx.Result{}, err
		}
		indexes, err := s.objects(indexesSQL, []any{name.Text()}, "name", "unique", "sql")
		if err != nil {
			return domarkx.Result{}, err
		}
		for j, index := range indexes {
			of, _ := index.Get("name")
			names, err := s.objects(indexedSQL, []any{of.Text()}, "name")
			if err != nil {
				return domarkx.Result{}, err
			}
			for k, n := range names {
				names[k], _ = n.Get("name")
			}
			indexes[j] = index.With("columns", jsonvalue.ArrayValue(names...))
		}
		tables[i] = t.With("columns", jsonvalue.ArrayValue(columns...)).With("indexes", jsonvalue.ArrayValue(indexes...))
	}
	triggers, err := s.objects(triggersSQL, nil, "name", "table", "sql")
	if err != nil {
		return domarkx.Result{}, err
	}
	return domarkx.Result{Value: jsonvalue.ObjectOf("tables", jsonvalue.ArrayValue(tables...), "triggers", jsonvalue.ArrayValue(triggers...))}, nil
}

// objects runs a query and returns its rows as objects.
func (s *session) objects(sql string, args []any, names ...string) (objects []jsonvalue.Value, err error) {
	err = s.Query(sql, args, func(stmt *sqlite3.Stmt) error {
		members := make([]jsonvalue.Member, len(names))
		for i, name := range names {
			members[i] = jsonvalue.Member{Name: name, Value: member(name, stmt.Column(i))}
		}
		objects = append(objects, jsonvalue.ObjectValue(members...))
		return nil
	})
	return objects, err
}

// member returns the value of a member of an object. Some members are booleans, which SQLite stores as integers.
func member(name string, v any) jsonvalue.Value {
	switch name {
	case "not_null", "unique", "hidden":
		n, _ := v.(int64)
		return jsonvalue.BoolValue(n != 0)
	}
	return database.Value(v)
}
