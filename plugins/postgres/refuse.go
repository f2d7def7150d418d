package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// objectsSQL defines tables for other queries: "me" is the role as which versions are loaded, and
// "objects" lists objects with their owner and whether they belong to an extension. Objects of PostgreSQL
// itself have numbers below 16384; of those, only the schema public, 2200, belongs to users.
const objectsSQL = `WITH me AS (
  SELECT CASE WHEN r.rolsuper THEN d.datdba ELSE r.oid END AS oid FROM pg_roles r, pg_database d WHERE r.rolname = current_user AND d.datname = current_database()
), owned AS (SELECT * FROM (
  SELECT 'pg_class'::regclass::oid, oid, relowner FROM pg_class WHERE relkind IN ('r', 'v', 'm', 'f', 'p', 'S') AND relpersistence <> 't'
  UNION ALL SELECT 'pg_proc'::regclass, oid, proowner FROM pg_proc p WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i') -- of a range
  UNION ALL SELECT 'pg_type'::regclass, t.oid, typowner FROM pg_type t LEFT JOIN pg_class c ON c.oid = typrelid WHERE typtype IN ('d', 'e', 'r', 'p') OR typtype = 'b' AND typcategory <> 'A' OR c.relkind = 'c'
  UNION ALL SELECT 'pg_namespace'::regclass, oid, nspowner FROM pg_namespace WHERE nspname !~ '^pg_'
  UNION ALL SELECT 'pg_language'::regclass, oid, lanowner FROM pg_language
  UNION ALL SELECT 'pg_foreign_data_wrapper'::regclass, oid, fdwowner FROM pg_foreign_data_wrapper
  UNION ALL SELECT 'pg_foreign_server'::regclass, oid, srvowner FROM pg_foreign_server
  UNION ALL SELECT 'pg_operator'::regclass, oid, oprowner FROM pg_operator
  UNION ALL SELECT 'pg_opclass'::regclass, oid, opcowner FROM pg_opclass
  UNION ALL SELECT 'pg_opfamily'::regclass, oid, opfowner FROM pg_opfamily
  UNION ALL SELECT 'pg_collation'::regclass, oid, collowner FROM pg_collation
  UNION ALL SELECT 'pg_conversion'::regclass, oid, conowner FROM pg_conversion
  UNION ALL SELECT 'pg_ts_config'::regclass, oid, cfgowner FROM pg_ts_config
  UNION ALL SELECT 'pg_ts_dict'::regclass, oid, dictowner FROM pg_ts_dict
  UNION ALL SELECT 'pg_statistic_ext'::regclass, oid, stxowner FROM pg_statistic_ext
  UNION ALL SELECT 'pg_publication'::regclass, oid, pubowner FROM pg_publication
  UNION ALL SELECT 'pg_event_trigger'::regclass, oid, evtowner FROM pg_event_trigger
) o (class, oid, owner) WHERE oid >= 16384 OR class = 'pg_namespace'::regclass AND oid = 2200), objects AS (
  SELECT o.*, i.type, i.identity, o.class = 'pg_namespace'::regclass AND i.identity = 'public' AND o.owner <> me.oid AS public,
    EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.objsubid = 0 AND d.deptype = 'e') AS extension
  FROM me, owned o, pg_identify_object(o.class, o.oid, 0) i
  WHERE coalesce(i.schema, '') !~ '^pg_'
), intruders AS (
  SELECT i.type, i.identity FROM owned o, pg_identify_object(o.class, o.oid, 0) i WHERE o.oid >= 16384 AND i.schema IN ('pg_catalog', 'information_schema')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.objsubid = 0 AND d.deptype = 'e')
)`

// refusedSQL lists what no version can contain, because the role that loads it could not create it
// again: the object and the reason.
const refusedSQL = objectsSQL + `
SELECT type || ' ' || identity, 'belongs to the role ' || pg_get_userbyid(owner) FROM objects, me WHERE owner <> me.oid AND NOT extension AND NOT public
UNION ALL SELECT 'the database', 'belongs to the role ' || pg_get_userbyid(datdba) FROM pg_database, me WHERE datname = current_database() AND datdba <> me.oid
UNION ALL SELECT type || ' ' || identity, 'is in a schema of PostgreSQL''s own' FROM intruders
UNION ALL SELECT type || ' ' || identity, 'only superusers can make' FROM objects o WHERE NOT extension AND (class IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass, 'pg_language'::regclass)
  OR EXISTS (SELECT FROM pg_type t WHERE o.class = 'pg_type'::regclass AND t.oid = o.oid AND t.typtype IN ('b', 'p'))
  OR EXISTS (SELECT FROM pg_aggregate a WHERE o.class = 'pg_proc'::regclass AND a.aggfnoid = o.oid AND 'internal'::regtype IN (a.aggtranstype, a.aggmtranstype))
  OR EXISTS (SELECT FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE o.class = 'pg_proc'::regclass AND p.oid = o.oid AND p.oid >= 16384 AND (p.proleakproof OR NOT l.lanpltrusted AND l.lanname <> 'internal' AND l.lanname <> 'sql' OR l.lanname = 'internal' AND p.prokind <> 'a')))
UNION ALL SELECT i.type || ' ' || i.identity, 'only superusers can make' FROM (SELECT 'pg_am'::regclass::oid AS class, oid FROM pg_am UNION ALL SELECT 'pg_ts_parser'::regclass, oid FROM pg_ts_parser
  UNION ALL SELECT 'pg_ts_template'::regclass, oid FROM pg_ts_template UNION ALL SELECT 'pg_transform'::regclass, oid FROM pg_transform
  UNION ALL SELECT 'pg_cast'::regclass, c.oid FROM me, pg_cast c JOIN pg_type f ON f.oid = castsource JOIN pg_type t ON t.oid = casttarget WHERE castmethod = 'b' OR me.oid NOT IN (f.typowner, t.typowner)) o,
  pg_identify_object(o.class, o.oid, 0) i WHERE o.oid >= 16384 AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.deptype = 'e')
UNION ALL SELECT type || ' ' || identity, 'sets ' || quote_ident(split_part(s, '=', 1)) || ', which the role that loads it may not' FROM objects o JOIN pg_proc p ON o.class = 'pg_proc'::regclass AND p.oid = o.oid, unnest(p.proconfig) s
  WHERE NOT extension AND s !~ '^(plpgsql\.(?!variable_conflict)|role=|session_authorization=)' AND NOT EXISTS (SELECT FROM pg_settings g WHERE g.name = split_part(s, '=', 1) AND g.context = 'user')
UNION ALL SELECT type || ' ' || identity, 'has system triggers that are switched off or on' FROM objects o WHERE class = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = o.oid AND g.tgisinternal AND g.tgenabled <> 'O' AND g.tgparentid = 0)
UNION ALL SELECT 'large object ' || oid, 'can be in no version; store its bytes in a column of type bytea, see lo_get, and remove it with lo_unlink' FROM pg_largeobject_metadata
UNION ALL SELECT 'subscription ' || subname, 'is to another server' FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid WHERE datname = current_database()
UNION ALL SELECT objtype || ' ' || objname, 'has a security label' FROM pg_seclabels l JOIN pg_class c ON c.oid = l.classoid AND NOT c.relisshared
UNION ALL SELECT 'index ' || i.indexrelid::regclass, 'is not valid; REINDEX or DROP it' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE NOT i.indisvalid AND c.relkind = 'i' AND c.relpersistence <> 't'
UNION ALL SELECT 'the user mapping for server ' || quote_ident(srvname), 'has a password, which everybody who has the version could read' FROM pg_user_mappings WHERE EXISTS (SELECT FROM unnest(umoptions) o WHERE o ~ 'password')
ORDER BY 2, 1`

// extensionsSQL lists the extensions that the role which loads a version cannot create again: CREATE
// EXTENSION installs the version that the server has.
const extensionsSQL = `SELECT 'extension ' || quote_ident(extname), CASE WHEN a.name IS NULL THEN 'is not there any more for the server to make it again' ELSE 'only superusers can make' END
FROM pg_extension e LEFT JOIN LATERAL (SELECT v.name, v.superuser AND NOT v.trusted AS refused FROM pg_available_extensions() x JOIN pg_available_extension_versions() v ON v.name = x.name AND v.version = x.default_version
  WHERE x.name = e.extname OFFSET 0) a ON true WHERE e.oid >= 16384 AND a.refused IS NOT false ORDER BY 1`

// membersSQL lists objects that were added to an extension, which pg_dump omits. Objects that an
// extension's own script created belong to a superuser if the extension needs one or is trusted;
// otherwise they belong to the creator of the extension and were created in the same transaction.
const membersSQL = objectsSQL + `, members AS (
  SELECT d.classid, d.objid, d.xmin, e.oid AS extension, e.extname, o.owner FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid LEFT JOIN owned o ON o.class = d.classid AND o.oid = d.objid
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.oid >= 16384
), owners AS (
  SELECT classid, objid, xmin, extension, extname, owner FROM members
  UNION ALL SELECT m.classid, m.objid, m.xmin, m.extension, m.extname, t.typowner FROM members m JOIN pg_cast c ON m.classid = 'pg_cast'::regclass AND c.oid = m.objid JOIN pg_type t ON t.oid IN (c.castsource, c.casttarget)
  UNION ALL SELECT m.classid, m.objid, m.xmin, m.extension, m.extname, t.typowner FROM members m JOIN pg_transform c ON m.classid = 'pg_transform'::regclass AND c.oid = m.objid JOIN pg_type t ON t.oid = c.trftype
)
SELECT DISTINCT i.type || ' ' || i.identity, 'was added to the extension ' || quote_ident(extname) || ', which does not make it; take it out with ALTER EXTENSION'
FROM owners m JOIN pg_roles r ON r.oid = m.owner, pg_identify_object(m.classid, m.objid, 0) i
WHERE NOT r.rolsuper AND (
  EXISTS (SELECT FROM pg_available_extension_versions() v JOIN pg_available_extensions() x ON v.name = x.name AND v.version = x.default_version WHERE v.name = m.extname AND v.superuser)
  OR EXISTS (SELECT FROM pg_depend s WHERE s.classid = 'pg_extension'::regclass AND s.objid = m.extension AND s.refclassid = 'pg_namespace'::regclass AND s.xmin <> m.xmin)) ORDER BY 1`

// rowsSQL lists what no version can contain if there are certain rows, each with a query that reports whether there are:
// tables of extensions with data of users, and columns whose values COPY writes as names that could not be read back, which
// are those of indexes, which are created after the rows, of one of several overloads, and of roles, which may be missing on
// another server.
const rowsSQL = `SELECT format('table %s is part of the extension %s, and has rows of yours', c.oid::regclass, e.extname),
  format('SELECT EXISTS (SELECT FROM %s %s)', c.oid::regclass, e.extcondition[k.n])
FROM pg_extension e, unnest(e.extconfig) WITH ORDINALITY AS k (oid, n) JOIN pg_class c ON c.oid = k.oid WHERE c.relkind = 'r'
UNION ALL SELECT format('column %I of table %I.%I %s', attname, nspname, relname, why),
  format('SELECT EXISTS (SELECT FROM ONLY %I.%I t JOIN pg_catalog.%s c ON c.oid = t.%I WHERE %s)', nspname, relname, catalog, attname, lost)
FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace JOIN (VALUES
  ('regclass'::regtype, 'pg_class', 'c.relkind IN (''i'', ''I'')', 'names an index, which is made after the rows'),
  ('regproc', 'pg_proc', 'EXISTS (SELECT FROM pg_catalog.pg_proc o WHERE o.proname = c.proname AND o.pronamespace = c.pronamespace AND o.oid <> c.oid)',
    'names one of several functions of a name; regprocedure tells which'),
  ('regoper', 'pg_operator', 'EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE o.oprname = c.oprname AND o.oprnamespace = c.oprnamespace AND o.oid <> c.oid)',
    'names one of several operators of a name; regoperator tells which'),
  ('regrole', 'pg_roles', 'c.rolname !~ ''^pg_''', 'names a role, which not every server has')) AS names (type, catalog, lost, why) ON names.type = atttypid
WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND ` + userSchemas + ` AND attnum > 0 AND NOT attisdropped ORDER BY 1`

// maxNamed is the number of refused objects that an error lists.
const maxNamed = 10

// refuse returns an error that lists the things that a version cannot contain. It reads catalogs with c, and
// tables of users with rows.
func refuse(ctx context.Context, c, rows *connection) error {
	var found []string
	more := 0 // a database may have millions of large objects
	name := func(what string) {
		if len(found) < maxNamed {
			found = append(found, what)
		} else {
			more++
		}
	}
	for _, sql := range []string{refusedSQL, extensionsSQL, membersSQL} {
		if err := c.each(ctx, sql, nil, func(row [][]byte) { name(fmt.Sprintf("%s %s", row[0], row[1])) }); err != nil {
			return err
		}
	}
	conditions, err := c.rows(ctx, rowsSQL)
	if err != nil {
		return err
	}
	for _, condition := range conditions {
		some, err := rows.value(ctx, condition[1])
		if err != nil {
			return fmt.Errorf("finding out whether %s: %w", condition[0], err)
		}
		if some == "t" {
			name(condition[0])
		}
	}
	if len(found) == 0 {
		return nil
	}
	all := strings.Join(found, "; ")
	if more > 0 {
		all += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Errorf("a version cannot contain all of the database: %s: %w", all, domarkx.ErrUnsupported)
}
