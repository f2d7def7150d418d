package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// objectsSQL defines tables for other queries: "me" is the role as which versions are loaded, and
// "objects" lists objects with their owner, their privileges (kind is the argument of acldefault,
// "" for objects without privileges) and whether they belong to an extension. Objects of PostgreSQL
// itself have numbers below 16384; of those, only the schema public, 2200, belongs to users.
const objectsSQL = `WITH me AS (
  SELECT CASE WHEN r.rolsuper THEN d.datdba ELSE r.oid END AS oid FROM pg_roles r, pg_database d WHERE r.rolname = current_user AND d.datname = current_database()
), owned (class, oid, owner, kind, acl) AS (
  SELECT 'pg_class'::regclass::oid, oid, relowner, CASE relkind WHEN 'S' THEN 's' ELSE 'r' END, relacl FROM pg_class WHERE relkind IN ('r', 'v', 'm', 'f', 'p', 'S') AND relpersistence <> 't'
  UNION ALL SELECT 'pg_proc'::regclass, oid, proowner, 'f', proacl FROM pg_proc p WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i') -- of a range
  UNION ALL SELECT 'pg_type'::regclass, t.oid, typowner, 'T', typacl FROM pg_type t LEFT JOIN pg_class c ON c.oid = typrelid WHERE typtype IN ('d', 'e', 'r', 'p') OR typtype = 'b' AND typcategory <> 'A' OR c.relkind = 'c'
  UNION ALL SELECT 'pg_namespace'::regclass, oid, nspowner, 'n', nspacl FROM pg_namespace WHERE nspname !~ '^pg_'
  UNION ALL SELECT 'pg_language'::regclass, oid, lanowner, 'l', lanacl FROM pg_language
  UNION ALL SELECT 'pg_foreign_data_wrapper'::regclass, oid, fdwowner, 'F', fdwacl FROM pg_foreign_data_wrapper
  UNION ALL SELECT 'pg_foreign_server'::regclass, oid, srvowner, 'S', srvacl FROM pg_foreign_server
  UNION ALL SELECT 'pg_operator'::regclass, oid, oprowner, '', NULL FROM pg_operator
  UNION ALL SELECT 'pg_opclass'::regclass, oid, opcowner, '', NULL FROM pg_opclass
  UNION ALL SELECT 'pg_opfamily'::regclass, oid, opfowner, '', NULL FROM pg_opfamily
  UNION ALL SELECT 'pg_collation'::regclass, oid, collowner, '', NULL FROM pg_collation
  UNION ALL SELECT 'pg_conversion'::regclass, oid, conowner, '', NULL FROM pg_conversion
  UNION ALL SELECT 'pg_ts_config'::regclass, oid, cfgowner, '', NULL FROM pg_ts_config
  UNION ALL SELECT 'pg_ts_dict'::regclass, oid, dictowner, '', NULL FROM pg_ts_dict
  UNION ALL SELECT 'pg_statistic_ext'::regclass, oid, stxowner, '', NULL FROM pg_statistic_ext
  UNION ALL SELECT 'pg_publication'::regclass, oid, pubowner, '', NULL FROM pg_publication
  UNION ALL SELECT 'pg_event_trigger'::regclass, oid, evtowner, '', NULL FROM pg_event_trigger
  UNION ALL SELECT 'pg_largeobject'::regclass, oid, lomowner, 'L', lomacl FROM pg_largeobject_metadata
), objects AS (
  SELECT o.*, i.type, i.identity, o.class = 'pg_namespace'::regclass AND i.identity = 'public' AND o.owner <> me.oid AS public,
    EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.objsubid = 0 AND d.deptype = 'e') AS extension
  FROM me, owned o, pg_identify_object(o.class, o.oid, 0) i
  WHERE (o.oid >= 16384 OR o.class = 'pg_largeobject'::regclass OR o.class = 'pg_namespace'::regclass AND o.oid = 2200) AND coalesce(i.schema, '') !~ '^pg_'
), intruders AS (
  SELECT i.type, i.identity FROM owned o, pg_identify_object(o.class, o.oid, 0) i WHERE o.oid >= 16384 AND i.schema IN ('pg_catalog', 'information_schema')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.objsubid = 0 AND d.deptype = 'e')
)`

// privilegesSQL generates statements for privileges that differ from an object's initial ones:
// first those that revoke, then those that grant, in the order in which they were granted. Default
// privileges come last, since they apply to objects that are created later. %I stands for the
// database's name.
const privilegesSQL = objectsSQL + `, privileges AS (
  SELECT 1 AS part, type || ' ' || identity AS ordered, format('ON %s %s', CASE kind WHEN 'r' THEN 'TABLE' WHEN 's' THEN 'SEQUENCE' WHEN 'f' THEN 'ROUTINE' WHEN 'T' THEN 'TYPE'
      WHEN 'n' THEN 'SCHEMA' WHEN 'l' THEN 'LANGUAGE' WHEN 'F' THEN 'FOREIGN DATA WRAPPER' WHEN 'S' THEN 'FOREIGN SERVER' WHEN 'L' THEN 'LARGE OBJECT' END, identity) AS target, '' AS of_columns, '' AS before,
    owner, acl, acldefault(kind::"char", owner) || CASE WHEN public THEN ARRAY[format('=U/%s', quote_ident(pg_get_userbyid(owner)))::aclitem] ELSE '{}' END AS initial
  FROM objects WHERE acl IS NOT NULL AND kind <> '' AND NOT extension
  UNION ALL
  SELECT 2, o.type || ' ' || o.identity || ' ' || a.attname, 'ON TABLE ' || o.identity, format(' (%I)', a.attname), '', o.owner, a.attacl, NULL
  FROM objects o JOIN pg_attribute a ON a.attrelid = o.oid WHERE o.class = 'pg_class'::regclass AND NOT o.extension AND a.attacl IS NOT NULL AND NOT a.attisdropped
  UNION ALL
  SELECT 3, '', 'ON DATABASE %I', '', '', datdba, datacl, acldefault('d', datdba) FROM pg_database WHERE datname = current_database() AND datacl IS NOT NULL
  UNION ALL
  SELECT 4, coalesce(nspname, '') || ' ' || defaclobjtype::text, 'ON ' || CASE defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'ROUTINES' WHEN 'T' THEN 'TYPES' WHEN 'n' THEN 'SCHEMAS' END,
    '', format('ALTER DEFAULT PRIVILEGES %s', 'IN SCHEMA ' || quote_ident(nspname) || ' '), defaclrole, defaclacl,
    CASE WHEN defaclnamespace = 0 THEN acldefault(CASE defaclobjtype WHEN 'S' THEN 's' ELSE defaclobjtype END, defaclrole) END
  FROM pg_default_acl LEFT JOIN pg_namespace n ON n.oid = defaclnamespace
), changes AS (
  SELECT p.*, true AS revoke, d.grantee, d.privilege_type, false AS is_grantable, d.n
  FROM privileges p, aclexplode(initial) WITH ORDINALITY AS d (grantor, grantee, privilege_type, is_grantable, n)
  WHERE NOT EXISTS (SELECT FROM aclexplode(p.acl) a WHERE a.grantee = d.grantee AND a.privilege_type = d.privilege_type)
  UNION ALL
  SELECT p.*, false, a.grantee, a.privilege_type, a.is_grantable, a.n
  FROM privileges p, aclexplode(acl) WITH ORDINALITY AS a (grantor, grantee, privilege_type, is_grantable, n)
  WHERE NOT EXISTS (SELECT FROM aclexplode(p.initial) d WHERE d.grantee = a.grantee AND d.privilege_type = a.privilege_type AND d.is_grantable = a.is_grantable)
), statements AS (
  SELECT part, ordered, revoke, min(n) AS n, format('%s%s %s %s %s %s%s', min(before), CASE WHEN revoke THEN 'REVOKE' ELSE 'GRANT' END,
    string_agg(privilege_type || of_columns, ', ' ORDER BY n), min(target), CASE WHEN revoke THEN 'FROM' ELSE 'TO' END,
    CASE WHEN grantee = 0 THEN 'PUBLIC' WHEN grantee = min(me.oid) AND grantee = min(owner) THEN 'CURRENT_USER' ELSE quote_ident(pg_get_userbyid(grantee)) END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS sql
  FROM changes, me GROUP BY part, ordered, revoke, grantee, is_grantable
)
SELECT sql, part = 3 FROM statements ORDER BY part, ordered COLLATE "C", NOT revoke, n`

// rolesSQL lists the roles that a version names in privileges and policies, except those that every
// server has.
const rolesSQL = objectsSQL + `, named AS (
  SELECT a.grantee AS oid, o.owner FROM objects o, aclexplode(o.acl) a WHERE NOT o.extension
  UNION ALL SELECT a.grantee, o.owner FROM objects o JOIN pg_attribute c ON c.attrelid = o.oid, aclexplode(c.attacl) a WHERE o.class = 'pg_class'::regclass AND NOT o.extension
  UNION ALL SELECT a.grantee, datdba FROM pg_database, aclexplode(datacl) a WHERE datname = current_database()
  UNION ALL SELECT a.grantee, defaclrole FROM pg_default_acl, aclexplode(defaclacl) a
  UNION ALL SELECT unnest(polroles), 0 FROM pg_policy
)
SELECT DISTINCT r.rolname::text COLLATE "C" FROM named n JOIN pg_roles r ON r.oid = n.oid, me
WHERE r.rolname !~ '^pg_' AND NOT (n.oid = me.oid AND n.owner = me.oid) ORDER BY 1`

// settingsSQL lists the settings of the database that need no superuser, and whether each is a list
// of names. Settings of PL/pgSQL are known only after its first use, and pg_settings omits role.
const settingsSQL = `SELECT split_part(c, '=', 1), substr(c, strpos(c, '=') + 1), split_part(c, '=', 1) IN ('search_path', 'temp_tablespaces', 'local_preload_libraries')
FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) WITH ORDINALITY AS u (c, n)
WHERE s.setrole = 0 AND d.datname = current_database() AND (c ~ '^(plpgsql\.(?!variable_conflict)|role=)'
  OR EXISTS (SELECT FROM pg_settings p WHERE p.name = split_part(c, '=', 1) AND p.context IN ('user', 'backend'))) ORDER BY n`

// objectCommentsSQL generates the comments on large objects. pg_dump omits them with --no-blobs.
const objectCommentsSQL = `SELECT format('COMMENT ON LARGE OBJECT %s IS %L', objoid, description) FROM pg_description WHERE classoid = 'pg_largeobject'::regclass ORDER BY objoid`

// extensionCommentsSQL generates statements for extensions whose own comment was removed.
const extensionCommentsSQL = `SELECT format('COMMENT ON EXTENSION %I IS NULL', extname) FROM pg_extension e WHERE oid >= 16384 AND obj_description(oid, 'pg_extension') IS NULL ORDER BY 1`

// propertiesSQL generates the properties of the database that differ from those of a new one.
const propertiesSQL = `SELECT CASE WHEN datistemplate OR datconnlimit <> -1 THEN format('CONNECTION LIMIT %s IS_TEMPLATE %s', datconnlimit, CASE WHEN datistemplate THEN 'true' ELSE 'false' END) ELSE '' END
FROM pg_database WHERE datname = current_database()`

const commentSQL = `SELECT coalesce((SELECT quote_literal(shobj_description(oid, 'pg_database')) FROM pg_database WHERE datname = current_database()), '')`

// access returns the statements for privileges and for settings of the database itself, nil for
// none, and the roles that a version names.
func access(ctx context.Context, c *connection) (sql []byte, roles []string, err error) {
	var b bytes.Buffer
	err = c.rows(ctx, privilegesSQL, nil, func(row [][]byte) error {
		if statement := string(row[0]); string(row[1]) == "t" {
			b.WriteString(forDatabase(`EXECUTE format(`+literal(escapeFormat(statement))+`, current_database())`, ""))
		} else {
			b.WriteString(statement + ";\n")
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	err = c.rows(ctx, settingsSQL, nil, func(row [][]byte) error {
		name, value := string(row[0]), string(row[1])
		set := `EXECUTE format(` + literal("ALTER DATABASE %I SET "+quote(name)+" TO %L") + `, current_database(), ` + literal(value) + `)`
		if string(row[2]) == "t" { // setting it FROM CURRENT preserves the list
			set = `PERFORM set_config(` + literal(name) + `, ` + literal(value) + `, true); EXECUTE format(` + literal("ALTER DATABASE %I SET "+quote(name)+" FROM CURRENT") +
				`, current_database()); PERFORM set_config(` + literal(name) + `, before, true)`
		}
		b.WriteString(forDatabase(set, `before text := current_setting(`+literal(name)+`);`))
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	err = c.rows(ctx, objectCommentsSQL, nil, func(row [][]byte) error {
		b.WriteString(string(row[0]) + ";\n")
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	err = c.rows(ctx, extensionCommentsSQL, nil, func(row [][]byte) error {
		b.WriteString(string(row[0]) + ";\n")
		return nil
	})
	if err != nil {
		return nil, nil, err
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
	err = c.rows(ctx, rolesSQL, nil, func(row [][]byte) error {
		roles = append(roles, string(row[0]))
		return nil
	})
	return b.Bytes(), roles, err
}

// escapeFormat turns a statement into a format string in which %I after ON DATABASE stands for the
// database's name; it escapes all other percent signs.
func escapeFormat(statement string) string {
	const place = "ON DATABASE %I "
	before, after, _ := strings.Cut(statement, place)
	return strings.ReplaceAll(before, "%", "%%") + place + strings.ReplaceAll(after, "%", "%%")
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
	missing := slices.Clone(roles)
	err := c.rows(ctx, "SELECT rolname FROM pg_roles", nil, func(row [][]byte) error {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == string(row[0]) })
		return nil
	})
	return missing, err
}

// needRoles returns an error if a server lacks roles that a version names.
func needRoles(ctx context.Context, c *connection, roles []string) error {
	missing, err := missingRoles(ctx, c, roles)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("the version grants privileges to roles that the server does not have: %s: %w; create them with CREATE ROLE", strings.Join(missing, ", "), domarkx.ErrNotFound)
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
