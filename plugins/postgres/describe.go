package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// tablesSQL lists the tables with rows, except those of extensions. A table without a primary key
// is ordered by all columns as text, since not every type has an order.
const tablesSQL = `SELECT n.nspname, c.relname,
  (SELECT coalesce(json_agg(a.attname ORDER BY a.attnum), '[]') FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''),
  (SELECT json_agg(json_build_array(a.attname, a.attcollation <> 0) ORDER BY k.i) FROM pg_index x, unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, i)
    JOIN pg_attribute a ON a.attnum = k.attnum WHERE x.indrelid = c.oid AND x.indisprimary AND a.attrelid = c.oid AND k.i <= x.indnkeyatts)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND ` + userSchemas + `
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`

const sequencesSQL = `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S' AND c.relpersistence <> 't' AND ` + userSchemas + `
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`

// describe reads the parts of a version that are not SQL. One connection reads catalogs, the other
// one tables of users.
func describe(ctx context.Context, c, rows *connection) (meta, error) {
	m := meta{Format: formatNumber, Tables: []table{}, Sequences: []sequence{}}
	var err error
	if m.Public, err = c.value(ctx, publicSQL); err != nil {
		return m, err
	}
	// Paths are sorted as in a version, whose directories are written completely, one by one.
	err = c.rows(ctx, tablesSQL+` ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`, nil, func(row [][]byte) error {
		t := table{Schema: string(row[0]), Name: string(row[1])}
		if err := json.Unmarshal(row[2], &t.Columns); err != nil {
			return err
		}
		var err error
		t.order, err = t.orderBy(row[3])
		m.Tables = append(m.Tables, t)
		return err
	})
	if err != nil {
		return m, err
	}
	err = c.rows(ctx, sequencesSQL, nil, func(row [][]byte) error {
		m.Sequences = append(m.Sequences, sequence{Schema: string(row[0]), Name: string(row[1])})
		return nil
	})
	for i := 0; err == nil && i < len(m.Sequences); i++ {
		s := &m.Sequences[i]
		err = rows.rows(ctx, fmt.Sprintf("SELECT last_value, is_called FROM %s.%s", quote(s.Schema), quote(s.Name)), nil, func(row [][]byte) error {
			s.Last, s.Called = string(row[0]), string(row[1]) == "t"
			return nil
		})
	}
	return m, err
}

// orderBy returns a clause that orders the rows the same way everywhere: by the primary key, with
// COLLATE "C" where a column has a collation, since collations differ between systems.
func (t table) orderBy(key []byte) (string, error) {
	var columns [][2]any
	if key != nil {
		if err := json.Unmarshal(key, &columns); err != nil {
			return "", err
		}
	}
	var by []string
	for _, c := range columns {
		e := "t." + quote(fmt.Sprint(c[0]))
		if c[1] == true {
			e += ` COLLATE "C"`
		}
		by = append(by, e)
	}
	if key == nil {
		for _, name := range t.Columns { // no casts, since they may call functions of the database
			by = append(by, fmt.Sprintf(`pg_catalog.num_nulls(t.%[1]s), pg_catalog.format('%%s', t.%[1]s) COLLATE "C"`, quote(name)))
		}
	}
	if len(by) == 0 {
		return "", nil
	}
	return " ORDER BY " + strings.Join(by, ", "), nil
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
