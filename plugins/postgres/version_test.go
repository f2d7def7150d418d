package postgres_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/google/go-cmp/cmp"
)

// everything creates most kinds of objects that a database can contain.
const everything = `CREATE EXTENSION hstore;
CREATE SCHEMA "o'ther ""x""";
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text, m mood, p positive, h hstore, double_p int GENERATED ALWAYS AS (p * 2) STORED, dropped int);
ALTER TABLE a DROP COLUMN dropped;
INSERT INTO a (v, m, p, h) VALUES ('line
and tab	', 'sad', 1, 'a=>1'), (NULL, 'happy', 2, NULL), ('\N', NULL, NULL, '');
CREATE TABLE "o'ther ""x"""."../t" (k text, v json, x xml, f float8, c money);
INSERT INTO "o'ther ""x"""."../t" VALUES ('b', '{"a":  1}', '<a/>', 'NaN', 1.5), ('a', NULL, NULL, '-Infinity', NULL), ('a', NULL, NULL, 1e-300, NULL);
CREATE TABLE parent (id int PRIMARY KEY, at date) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parent FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 PARTITION OF parent FOR VALUES FROM (10) TO (20);
INSERT INTO parent VALUES (15, '2024-01-02'), (5, 'infinity');
CREATE TABLE child (more text) INHERITS (a);
INSERT INTO child (id, v, more) OVERRIDING SYSTEM VALUE VALUES (100, 'inherited', 'x');
CREATE TABLE referring (a bigint REFERENCES a DEFERRABLE, self int PRIMARY KEY REFERENCES referring);
INSERT INTO referring VALUES (1, 1), (NULL, 2);
CREATE TABLE nothing ();
INSERT INTO nothing DEFAULT VALUES;
CREATE SEQUENCE s START 7 INCREMENT 3; SELECT nextval('s'), nextval('s');
CREATE VIEW w AS SELECT v FROM a; CREATE MATERIALIZED VIEW mv AS SELECT count(*) FROM referring; CREATE MATERIALIZED VIEW empty AS SELECT 1 WITH NO DATA;
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
-- Dumped from database version 1
RETURN NEW; END $$;
CREATE TRIGGER tr BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION f();
CREATE INDEX i ON a (lower(v)); ALTER TABLE a ENABLE ROW LEVEL SECURITY; ALTER TABLE a FORCE ROW LEVEL SECURITY;
CREATE POLICY po ON a USING (p = 1);
COMMENT ON TABLE a IS 'a comment'; COMMENT ON SCHEMA public IS 'ours'`

func TestVersions(t *testing.T) {
	db, _ := emptied(t)
	m := plugintest.NewMemory()
	empty := db.Commit(m)
	if db.Changed() {
		t.Error("changed after a commit")
	}
	db.Execute(everything)
	if !db.Changed() {
		t.Error("not changed by statements")
	}
	full := db.Commit(m)
	files := databasetest.Files(t, m, full)
	for path, want := range map[string]string{
		"tables/public/a.copy":                    "1\tline\\nand tab\\t\tsad\t1\t\"a\"=>\"1\"\n2\t\\N\thappy\t2\t\\N\n3\t\\\\N\t\\N\t\\N\t\n",
		"tables/o%27ther%20%22x%22/%2E.%2Ft.copy": "a\t\\N\t\\N\t-Infinity\t\\N\na\t\\N\t\\N\t1e-300\t\\N\nb\t{\"a\":  1}\t<a/>\tNaN\t$1.50\n",
		"tables/public/part1.copy":                "5\tinfinity\n",
		"tables/public/nothing.copy":              "\n",
	} {
		if files[path] != want {
			t.Errorf("%s: %q, expected %q", path, files[path], want)
		}
	}
	for path, text := range files {
		if strings.Contains(text, "restrict") && !strings.HasSuffix(path, "json") {
			t.Errorf("%s has a random number", path)
		}
	}
	schema := db.Try("schema", "", "")
	db.Load(m, empty)
	if got := db.Query("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"); got != "[[0]]" || db.Changed() {
		t.Errorf("loaded the empty one: %s", got)
	}
	if testing.Short() {
		// A commit of another state is as good.
	} else if again := db.Commit(m); again != empty {
		t.Errorf("another empty version:\n%s", cmp.Diff(databasetest.Files(t, m, empty), databasetest.Files(t, m, again)))
	}
	db.Load(m, full)
	if got := db.Try("schema", "", ""); got != schema {
		t.Errorf("the schema:\n%s", cmp.Diff(schema, got))
	}
	if again := db.Commit(m); again != full {
		t.Errorf("the version changed after a load:\n%s", cmp.Diff(files, databasetest.Files(t, m, again)))
	}
	if got := db.Try("execute", "SELECT nextval('s'), count FROM mv", ""); !strings.HasSuffix(got, `"rows":[[13,2]]}`) {
		t.Errorf("afterwards: %s", got)
	}
	if m.Open() != 0 {
		t.Errorf("%d contents are open", m.Open())
	}
}

// TestChangeOfLargeTable checks that a small change of a large table stores little.
func TestChangeOfLargeTable(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	db, _ := emptied(t)
	m := plugintest.NewMemory()
	db.Execute("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 20000) i")
	first := databasetest.Files(t, m, db.Commit(m))
	db.Execute("UPDATE t SET v = 'x' WHERE id IN (5, 10000); INSERT INTO t VALUES (0, 'first'), (20001, 'last'); DELETE FROM t WHERE id = 14000")
	version := db.Commit(m)
	second := databasetest.Files(t, m, version)
	contents := map[string]bool{}
	for _, text := range first {
		contents[text] = true
	}
	cost := 0
	for _, text := range second {
		if !contents[text] {
			cost += len(text)
		}
	}
	if cost == 0 || cost > 150<<10 {
		t.Errorf("five changes cost %d bytes", cost)
	}
	other := databasetest.Open(t, planted{}, domarkx.Env{Dir: dir(t)})
	other.Load(m, version)
	if got := other.Query("SELECT count(*), min(id), max(id) FROM t"); got != "[[20001,0,20001]]" {
		t.Errorf("loaded: %s", got)
	}
	if again := other.Commit(m); again != version {
		t.Error("another version elsewhere")
	}
}

// TestSchemaPublic checks the schema public, which pg_dump omits.
func TestSchemaPublic(t *testing.T) {
	db, _ := emptied(t)
	m := plugintest.NewMemory()
	versions := []string{db.Commit(m)}
	for i, sql := range []string{"COMMENT ON SCHEMA public IS NULL", "DROP SCHEMA public", "CREATE SCHEMA public; CREATE TABLE public.t (v int)", "COMMENT ON SCHEMA public IS 'mine'"} {
		if testing.Short() && i > 1 {
			continue
		}
		db.Execute(sql)
		versions = append(versions, db.Commit(m))
	}
	for i, version := range versions {
		if i == 0 || i == 3 || testing.Short() && i != 1 {
			continue // a load of a similar one is as good, and a commit reads each
		}
		db.Load(m, version)
		if again := db.Commit(m); again != version {
			t.Errorf("another version of %d:\n%s", i, cmp.Diff(databasetest.Files(t, m, version), databasetest.Files(t, m, again)))
		}
	}
}

// TestPrivileges checks that privileges are in no version, and that a load leaves those on a database of the user
// and its role's default privileges as they are.
func TestPrivileges(t *testing.T) {
	_, own := emptied(t)
	su := asSuperuser(t, own)
	su.withRoles("reader, writer")
	db := su.external("domarkx")
	m := plugintest.NewMemory()
	db.Execute("CREATE TABLE t (v int)")
	without := db.Commit(m)
	db.Execute("GRANT SELECT ON t TO writer; GRANT CREATE ON DATABASE domarkx TO writer; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader")
	if with := db.Commit(m); with != without {
		t.Errorf("privileges changed the version:\n%s", cmp.Diff(databasetest.Files(t, m, without), databasetest.Files(t, m, with)))
	}
	db.Load(m, without)
	const have = "SELECT has_table_privilege('writer', 't', 'SELECT'), has_table_privilege('reader', 't', 'SELECT'), has_database_privilege('writer', 'domarkx', 'CREATE')"
	if got := db.Query(have); got != "[[false,true,true]]" {
		t.Errorf("after a load: %s", got)
	}
}

// TestEarlierVersion refuses a version with large objects, which commits stored at first, and changes nothing.
func TestEarlierVersion(t *testing.T) {
	db, _ := emptied(t)
	m := plugintest.NewMemory()
	db.Execute("CREATE TABLE t (v int); INSERT INTO t VALUES (1)")
	files := databasetest.Files(t, m, db.Commit(m))
	files["large_objects.copy"] = "5\t0\t\\\\x\n"
	w, err := m.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := database.Begin(t.Context(), w)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err == nil {
			err = v.File(t.Context(), path, []byte(files[path]))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	version, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"CheckLoad": db.Live.(domarkx.LoadChecker).CheckLoad(t.Context(), m, "", version), "Load": db.Live.Load(t.Context(), m, version),
	} {
		if !errors.Is(err, domarkx.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "large_objects.copy") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := db.Query("SELECT v FROM t"); got != "[[1]]" {
		t.Errorf("after refused loads: %s", got)
	}
}
