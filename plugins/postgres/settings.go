package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// rolesSQL lists the roles that policies name, except those that every server has.
const rolesSQL = `SELECT DISTINCT rolname::text COLLATE "C" FROM pg_policy p JOIN pg_roles r ON r.oid = ANY (p.polroles) WHERE rolname !~ '^pg_' ORDER BY 1`

// settingsSQL lists the settings of the database that need no superuser, and whether each is a list
// of names. Settings of PL/pgSQL are known only after its first use, and pg_settings omits role.
const settingsSQL = `SELECT split_part(c, '=', 1), substr(c, strpos(c, '=') + 1), split_part(c, '=', 1) IN ('search_path', 'temp_tablespaces', 'local_preload_libraries')
FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) WITH ORDINALITY AS u (c, n)
WHERE s.setrole = 0 AND d.datname = current_database() AND (c ~ '^(plpgsql\.(?!variable_conflict)|role=)'
  OR EXISTS (SELECT FROM pg_settings p WHERE p.name = split_part(c, '=', 1) AND p.context IN ('user', 'backend'))) ORDER BY n`

// extensionCommentsSQL generates statements for extensions whose own comment was removed.
const extensionCommentsSQL = `SELECT format('COMMENT ON EXTENSION %I IS NULL', extname) FROM pg_extension e WHERE oid >= 16384 AND obj_description(oid, 'pg_extension') IS NULL ORDER BY 1`

// propertiesSQL generates the properties of the database that differ from those of a new one.
const propertiesSQL = `SELECT CASE WHEN datistemplate OR datconnlimit <> -1 THEN format('CONNECTION LIMIT %s IS_TEMPLATE %s', datconnlimit, CASE WHEN datistemplate THEN 'true' ELSE 'false' END) ELSE '' END
FROM pg_database WHERE datname = current_database()`

const commentSQL = `SELECT coalesce((SELECT quote_literal(shobj_description(oid, 'pg_database')) FROM pg_database WHERE datname = current_database()), '')`

// own returns the statements for settings and comments of the database itself and for comments of
// extensions, nil for none, and the roles that a version names.
func own(ctx context.Context, c *connection) (sql []byte, roles []string, err error) {
	var b bytes.Buffer
	rows, err := c.rows(ctx, settingsSQL)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		name, value := row[0], row[1]
		set := `EXECUTE format(` + literal("ALTER DATABASE %I SET "+quote(name)+" TO %L") + `, current_database(), ` + literal(value) + `)`
		if row[2] == "t" { // setting it FROM CURRENT preserves the list
			set = `PERFORM set_config(` + literal(name) + `, ` + literal(value) + `, true); EXECUTE format(` + literal("ALTER DATABASE %I SET "+quote(name)+" FROM CURRENT") +
				`, current_database()); PERFORM set_config(` + literal(name) + `, before, true)`
		}
		b.WriteString(forDatabase(set, `before text := current_setting(`+literal(name)+`);`))
	}
	comments, err := c.list(ctx, extensionCommentsSQL)
	if err != nil {
		return nil, nil, err
	}
	for _, comment := range comments {
		b.WriteString(comment + ";\n")
	}
	properties, err := c.value(ctx, propertiesSQL)
	if err != nil {
		return nil, nil, err
	}
	if properties != "" {
		b.WriteString(forDatabase(`EXECUTE format('ALTER DATABASE %I `+properties+`', current_database())`, ""))
	}
	comment, err := c.value(ctx, commentSQL)
	if err != nil {
		return nil, nil, err
	}
	if comment != "" {
		b.WriteString(forDatabase(`EXECUTE format('COMMENT ON DATABASE %I IS %s', current_database(), quote_literal(`+comment+`))`, ""))
	}
	roles, err = c.list(ctx, rolesSQL)
	return b.Bytes(), roles, err
}

// forDatabase returns a statement that runs code. The code finds out the name of the current
// database, since a version may be loaded into another one.
func forDatabase(code, declare string) string {
	if declare != "" {
		declare = "DECLARE " + declare + " "
	}
	return "DO " + literal(declare+"BEGIN "+code+"; END") + ";\n"
}

// literal quotes text as a constant, for any setting of standard_conforming_strings.
func literal(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// missingRoles returns the roles of a version that a server does not have.
func missingRoles(ctx context.Context, c *connection, roles []string) ([]string, error) {
	there, err := c.list(ctx, "SELECT rolname FROM pg_roles")
	return slices.DeleteFunc(slices.Clone(roles), func(name string) bool { return slices.Contains(there, name) }), err
}

// needRoles returns an error if a server lacks roles that a version names.
func needRoles(ctx context.Context, c *connection, roles []string) error {
	missing, err := missingRoles(ctx, c, roles)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("the version names roles that the server does not have: %s: %w; create them with CREATE ROLE", strings.Join(missing, ", "), domarkx.ErrNotFound)
	}
	return err
}

// publicSQL returns the origin of the schema public, which CREATE DATABASE creates and dumps omit:
// "default" for that one, "own" for one that a statement created, "" for none.
const publicSQL = `SELECT coalesce((SELECT CASE WHEN r.rolsuper OR r.rolname = 'pg_database_owner' THEN 'default' ELSE 'own' END
FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'public'), '')`

// makePublic creates or removes the schema public so that it is as in a version.
func makePublic(ctx context.Context, c *connection, want string) error {
	have, err := c.value(ctx, publicSQL)
	if err != nil || have == want {
		return err
	}
	if have != "" {
		if err := c.do(ctx, "DROP SCHEMA public CASCADE"); err != nil {
			return err
		}
	}
	switch want {
	case "":
		return nil
	case "own":
		return c.do(ctx, "CREATE SCHEMA public")
	case "default":
		return c.do(ctx, "CREATE SCHEMA public; ALTER SCHEMA public OWNER TO pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC; COMMENT ON SCHEMA public IS 'standard public schema'")
	}
	return fmt.Errorf("schema public is %q: %w", want, domarkx.ErrCorrupt)
}

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

// describe reads the parts of a version that are not SQL. One connection reads catalogs, the other one tables of users.
func describe(ctx context.Context, c, rows *connection) (meta, error) {
	m := meta{Format: formatNumber, Tables: []table{}, Sequences: []sequence{}}
	var err error
	if m.Public, err = c.value(ctx, publicSQL); err != nil {
		return m, err
	}
	// Paths are sorted as in a version, whose directories are written completely, one by one.
	tables, err := c.rows(ctx, tablesSQL+` ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`)
	if err != nil {
		return m, err
	}
	for _, row := range tables {
		t := table{Schema: row[0], Name: row[1]}
		if err := json.Unmarshal([]byte(row[2]), &t.Columns); err != nil {
			return m, err
		}
		if t.order, err = t.orderBy(row[3]); err != nil {
			return m, err
		}
		m.Tables = append(m.Tables, t)
	}
	sequences, err := c.rows(ctx, sequencesSQL)
	if err != nil {
		return m, err
	}
	for _, row := range sequences {
		state, err := rows.rows(ctx, fmt.Sprintf("SELECT last_value, is_called FROM %s.%s", quote(row[0]), quote(row[1])))
		if err != nil {
			return m, err
		}
		m.Sequences = append(m.Sequences, sequence{row[0], row[1], state[0][0], state[0][1] == "t"})
	}
	return m, nil
}

// orderBy returns a clause that orders the rows the same way everywhere: by the primary key, with
// COLLATE "C" where a column has a collation, since collations differ between systems.
func (t table) orderBy(key string) (string, error) {
	var columns [][2]any
	if key != "" {
		if err := json.Unmarshal([]byte(key), &columns); err != nil {
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
	if key == "" {
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
