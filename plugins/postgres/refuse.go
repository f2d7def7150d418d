package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"
)

// refusedSQL names what no version can hold, because the role that loads one could
// not make it again: what, and why.
const refusedSQL = objectsSQL + `
SELECT type || ' ' || identity, 'belongs to the role ' || pg_get_userbyid(owner) FROM objects, me WHERE owner <> me.oid AND NOT extension AND NOT public
UNION ALL SELECT type || ' ' || identity, 'has privileges from the role ' || pg_get_userbyid(a.grantor) FROM objects o, aclexplode(o.acl) a WHERE a.grantor <> o.owner AND NOT extension
UNION ALL SELECT type || ' ' || identity, 'has privileges from the role ' || pg_get_userbyid(a.grantor) FROM objects o JOIN pg_attribute c ON c.attrelid = o.oid, aclexplode(c.attacl) a
  WHERE o.class = 'pg_class'::regclass AND a.grantor <> o.owner AND NOT extension
UNION ALL SELECT 'the database', 'has privileges from the role ' || pg_get_userbyid(a.grantor) FROM pg_database, aclexplode(datacl) a WHERE datname = current_database() AND a.grantor <> datdba
UNION ALL SELECT 'the database', 'belongs to the role ' || pg_get_userbyid(datdba) FROM pg_database, me WHERE datname = current_database() AND datdba <> me.oid
UNION ALL SELECT type || ' ' || identity, 'is part of an extension, and has other privileges than that gave it' FROM objects o WHERE extension AND acl IS NOT NULL
  AND acl::text IS DISTINCT FROM (SELECT p.initprivs::text FROM pg_init_privs p WHERE p.classoid = o.class AND p.objoid = o.oid AND p.objsubid = 0)
UNION ALL SELECT 'default privileges', 'are of the role ' || pg_get_userbyid(defaclrole) FROM pg_default_acl, me WHERE defaclrole <> me.oid
UNION ALL SELECT type || ' ' || identity, 'only superusers can make' FROM objects o WHERE NOT extension AND (class IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass)
  OR EXISTS (SELECT FROM pg_type t WHERE o.class = 'pg_type'::regclass AND t.oid = o.oid AND t.typtype = 'b')
  OR EXISTS (SELECT FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE o.class = 'pg_proc'::regclass AND p.oid = o.oid AND (p.proleakproof OR NOT l.lanpltrusted AND l.lanname <> 'internal' AND l.lanname <> 'sql' OR l.lanname = 'internal' AND p.prokind <> 'a')))
UNION ALL SELECT 'access method ' || amname, 'only superusers can make' FROM pg_am a WHERE oid >= 16384 AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_am'::regclass AND d.objid = a.oid AND d.deptype = 'e')
UNION ALL SELECT 'subscription ' || subname, 'is to another server' FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid WHERE datname = current_database()
UNION ALL SELECT objtype || ' ' || objname, 'has a security label' FROM pg_seclabels l JOIN pg_class c ON c.oid = l.classoid AND NOT c.relisshared
UNION ALL SELECT 'index ' || i.indexrelid::regclass, 'is not valid; REINDEX or DROP it' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE NOT i.indisvalid AND c.relkind = 'i' AND c.relpersistence <> 't'
UNION ALL SELECT 'the user mapping for server ' || quote_ident(srvname), 'has a password, which everybody who has the version could read' FROM pg_user_mappings WHERE EXISTS (SELECT FROM unnest(umoptions) o WHERE o ~ 'password')
ORDER BY 2, 1`

// configSQL lists the tables of extensions in which users keep something, with the
// condition for that.
const configSQL = `SELECT e.extname, c.oid::regclass, coalesce(nullif(e.extcondition[k.n], ''), '') FROM pg_extension e, unnest(e.extconfig) WITH ORDINALITY AS k (oid, n) JOIN pg_class c ON c.oid = k.oid
WHERE c.relkind = 'r' ORDER BY 1, 2`

// maxNamed is how many things are named that are refused.
const maxNamed = 10

// refuse names what no version can hold.
func refuse(ctx context.Context, c *connection) error {
	var found []string
	more := 0
	name := func(what string) {
		if len(found) == maxNamed {
			more++
			return
		}
		found = append(found, what)
	}
	err := c.rows(ctx, refusedSQL, nil, func(row [][]byte) error {
		name(fmt.Sprintf("%s %s", row[0], row[1]))
		return nil
	})
	if err != nil {
		return err
	}
	var kept [][3]string
	err = c.rows(ctx, configSQL, nil, func(row [][]byte) error {
		kept = append(kept, [3]string{string(row[0]), string(row[1]), string(row[2])})
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range kept {
		some, err := c.value(ctx, "SELECT EXISTS (SELECT FROM "+k[1]+" "+k[2]+")")
		if err != nil {
			return fmt.Errorf("the rows of the extension %s: %w", k[0], err)
		}
		if some == "t" {
			name(fmt.Sprintf("table %s is part of the extension %s, and has rows of yours", k[1], k[0]))
		}
	}
	if len(found) == 0 {
		return nil
	}
	all := strings.Join(found, "; ")
	if more > 0 {
		all += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Errorf("no version can hold all of the database: %s: %w", all, domarkx.ErrUnsupported)
}
