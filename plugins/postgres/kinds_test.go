package postgres_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/google/go-cmp/cmp"
)

// TestKinds checks that each kind of object that pg_dump supports and that ordinary roles can create
// is restored exactly.
func TestKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	db, dir := emptied(t)
	m := plugintest.NewMemory()
	empty := db.Commit(m)
	su := asSuperuser(t, dir)
	type state struct{ sql, dump, version string }
	var states []state
	for _, sql := range []string{
		kinds + `; CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql SET plpgsql.extra_warnings = 'all' AS 'BEGIN RETURN 1; END';
CREATE TABLE "a
b" ("c
d" int); COMMENT ON TABLE "a
b" IS E'x\n-- y';
CREATE TABLE t (c regclass, p regprocedure, n regnamespace, y regtype, o regoperator); INSERT INTO t VALUES ('t', 'lower(text)', 'public', 't', '=(int,int)')`,
		// A check and an index with functions that read tables by names without a schema.
		`CREATE TABLE lookup (id int); INSERT INTO lookup VALUES (1); CREATE FUNCTION known(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN EXISTS (SELECT FROM lookup WHERE id = $1); END';
CREATE TABLE a (v int CHECK (known(v))); INSERT INTO a VALUES (1); CREATE INDEX ON a (known(v)); CREATE EXTENSION hstore; COMMENT ON EXTENSION hstore IS NULL`,
		"CREATE EXTENSION hstore; COMMENT ON EXTENSION hstore IS 'mine'; COMMENT ON SCHEMA public IS NULL",
	} {
		db.Execute("DO 'BEGIN END'; " + sql)
		states = append(states, state{sql, su.dump(), db.Commit(m)})
		db.Load(m, empty)
	}
	for _, s := range states {
		db.Load(m, s.version)
		su.dumps(s.dump)
		if again := db.Commit(m); again != s.version {
			t.Errorf("%.100s: the version changed after a load:\n%s", s.sql, cmp.Diff(databasetest.Files(t, m, s.version), databasetest.Files(t, m, again)))
		}
	}
}

// TestRefusedKinds checks that a commit refuses, by name, objects that a load could not restore
// exactly. Each case has the statements of an ordinary role and then of a superuser.
func TestRefusedKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	db, dir := emptied(t)
	m := plugintest.NewMemory()
	empty := db.Commit(m)
	super := asSuperuser(t, dir)
	function := func(name string) string {
		return "CREATE FUNCTION " + name + "() RETURNS int LANGUAGE sql AS 'SELECT 1'"
	}
	for _, group := range [][]struct{ role, su, want string }{{ // an error names at most ten
		{"CREATE EXTENSION hstore; " + function("f") + "; ALTER EXTENSION hstore ADD FUNCTION f()", "", "function public.f() was added to the extension hstore, which does not make it; take it out with ALTER EXTENSION"},
		{"CREATE TABLE t (); ALTER EXTENSION hstore ADD TABLE t", "", "table public.t was added to the extension hstore"},
		{"CREATE SCHEMA s; ALTER EXTENSION hstore ADD SCHEMA s", "", "schema s was added to"},
		{"CREATE TYPE a AS ENUM (); CREATE CAST (a AS hstore) WITH INOUT; ALTER EXTENSION hstore ADD CAST (a AS hstore)", "", "cast (public.a AS public.hstore) was added to"},
		{"", "CREATE EXTENSION pgrowlocks", "extension pgrowlocks only superusers can make"},
		{"CREATE TYPE r AS RANGE (subtype = int)", "CREATE CAST (r AS int4range) WITHOUT FUNCTION", "cast (public.r AS pg_catalog.int4range) only superusers"},
		{"", "CREATE CAST (int4 AS xml) WITH INOUT", "cast (integer AS pg_catalog.xml) only superusers"},
	}, {
		{"", "CREATE AGGREGATE ia(int8) (SFUNC = int8_avg_accum, STYPE = internal, FINALFUNC = numeric_poly_avg); ALTER AGGREGATE ia(int8) OWNER TO domarkx", "aggregate public.ia(bigint) only superusers"},
		{"", "CREATE TYPE shell; ALTER TYPE shell OWNER TO domarkx", "type public.shell only superusers"},
		{"", "CREATE TEXT SEARCH PARSER p (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)", "text search parser public.p only superusers"},
		{"", "CREATE TEXT SEARCH TEMPLATE p (LEXIZE = dsimple_lexize)", "text search template public.p only superusers"},
		{"", "CREATE LANGUAGE l HANDLER plpgsql_call_handler; ALTER LANGUAGE l OWNER TO domarkx", "language l only superusers"},
		{"CREATE TYPE a AS ENUM ()", "CREATE TRANSFORM FOR a LANGUAGE plpgsql (FROM SQL WITH FUNCTION prsd_lextype(internal))", "transform for public.a on language plpgsql only superusers"},
		{function("g"), "ALTER FUNCTION g SET log_statement = 'all'", "function public.g() sets log_statement, which"},
		{function("h"), "ALTER FUNCTION h SET my.thing = 'all'", `function public.h() sets "my.thing", which`},
	}, {
		{"CREATE TABLE p (a int PRIMARY KEY); CREATE TABLE c (a int REFERENCES p)", "ALTER TABLE c DISABLE TRIGGER ALL", "table public.c has system triggers that are switched off"},
		{"", "CREATE FUNCTION pg_catalog.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function pg_catalog.mine() is in a schema of PostgreSQL's own"},
		{"CREATE TABLE i (v int PRIMARY KEY, r regclass); INSERT INTO i VALUES (1, 'i_pkey')", "", "column r of table public.i names an index"},
		{"CREATE TABLE u (r regproc); INSERT INTO u SELECT oid FROM pg_proc WHERE proname = 'lower'", "", "column r of table public.u names one of several functions"},
		{"CREATE TABLE v (r regoper); INSERT INTO v SELECT oid FROM pg_operator WHERE oprname = '='", "", "column r of table public.v names one of several operators"},
		{"CREATE TABLE w (r regrole); INSERT INTO w VALUES (current_user::regrole)", "", "column r of table public.w names a role"},
	}, {
		{"CREATE EXTENSION hstore", "UPDATE pg_extension SET extname = 'gone' WHERE extname = 'hstore'", "extension gone is not there any more"},
	}, {
		{"CREATE TABLE t (v int); INSERT INTO t VALUES (1); CREATE FUNCTION f(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT EXISTS (SELECT FROM t WHERE v = $1)'; CREATE INDEX ON t (f(v))", "", `the rows of table "public"."t": ERROR: relation "t" does not exist`},
	}} {
		var role, su string
		for _, tt := range group {
			role, su = role+tt.role+"; ", su+tt.su+"; "
		}
		db.Execute(role)
		super.does(su)
		w, err := m.Begin(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		err = db.Live.Commit(t.Context(), w)
		for _, tt := range group {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s %s: %v", tt.role, tt.su, err)
			}
		}
		db.Load(m, empty)
	}
	// Objects of an extension's own script are distinguished from those added to it later.
	for _, name := range []string{"btree_gin", "btree_gist", "citext", "cube", "dict_int", "fuzzystrmatch", "hstore", "intarray", "isn", "lo", "ltree", "pg_trgm", "pgcrypto", "seg", "tablefunc", "tcn", "tsm_system_rows", "tsm_system_time", "unaccent", `"uuid-ossp"`} {
		db.Execute("CREATE EXTENSION " + name)
	}
	version := db.Commit(m)
	db.Load(m, version)
	if again := db.Commit(m); again != version {
		t.Errorf("extensions: the version changed after a load:\n%s", cmp.Diff(databasetest.Files(t, m, version), databasetest.Files(t, m, again)))
	}
}

const kinds = `
CREATE TYPE rng AS RANGE (subtype = text, collation = "C", multirange_type_name = multi); CREATE TABLE uses (m multi, r rng[]); INSERT INTO uses VALUES ('{[a,b),[c,d]}', '{"[a,b]"}');
CREATE CONVERSION conv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8; CREATE DEFAULT CONVERSION conv2 FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8; COMMENT ON CONVERSION conv IS 'c';
CREATE TEXT SEARCH DICTIONARY dict (TEMPLATE = snowball, language = 'english', StopWords = 'english'); COMMENT ON TEXT SEARCH DICTIONARY dict IS 'd'; CREATE TEXT SEARCH CONFIGURATION tsc (PARSER = default); ALTER TEXT SEARCH CONFIGURATION tsc ADD MAPPING FOR word, email WITH dict, simple;
CREATE FUNCTION fr(int, text) RETURNS bool LANGUAGE sql IMMUTABLE RETURN $1 = length($2); CREATE FUNCTION rf(text, int) RETURNS bool LANGUAGE sql IMMUTABLE RETURN $2 = length($1);
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = text, FUNCTION = fr, COMMUTATOR = ===, NEGATOR = !===, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES); CREATE OPERATOR === (LEFTARG = text, RIGHTARG = int, FUNCTION = rf, COMMUTATOR = ===); CREATE OPERATOR ~~> (RIGHTARG = text, FUNCTION = length); COMMENT ON OPERATOR ~~> (NONE, text) IS 'o';
CREATE TYPE es AS ENUM ('b', 'a'); ALTER TYPE es ADD VALUE 'between' BEFORE 'a'; ALTER TYPE es RENAME VALUE 'b' TO 'B'; CREATE CAST (es AS int) WITH INOUT AS ASSIGNMENT; COMMENT ON CAST (es AS int) IS 'cast';
CREATE AGGREGATE ordered(float8 ORDER BY int) (SFUNC = int4pl, STYPE = int, INITCOND = '0', FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE moving(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0', MSFUNC = int4pl, MINVFUNC = int4mi, MSTYPE = int, COMBINEFUNC = int4pl, PARALLEL = SAFE, SORTOP = <); COMMENT ON AGGREGATE moving(int) IS 'a';
CREATE TABLE p (id int, k int NOT NULL DEFAULT 3, t text COLLATE "C", CONSTRAINT pk PRIMARY KEY (id) INCLUDE (k), UNIQUE NULLS NOT DISTINCT (t), CHECK (k > 0) NO INHERIT); COMMENT ON CONSTRAINT pk ON p IS 'k'; COMMENT ON INDEX pk IS 'i';
INSERT INTO p VALUES (1, 2, 'x'), (2, 3, NULL);
CREATE VIEW grouped AS SELECT *, count(*) FROM p GROUP BY id; CREATE MATERIALIZED VIEW mgrouped AS SELECT * FROM grouped; ALTER VIEW grouped ALTER k SET DEFAULT 9; COMMENT ON VIEW grouped IS 'v'; COMMENT ON COLUMN grouped.k IS 'k';
CREATE VIEW invoker WITH (security_invoker) AS TABLE p; CREATE RECURSIVE VIEW rec (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM rec WHERE n < 5;
CREATE TABLE fk (a int, b int, CONSTRAINT m FOREIGN KEY (a) REFERENCES p ON DELETE SET NULL (a) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED); INSERT INTO fk VALUES (1, 2); SET CONSTRAINTS ALL IMMEDIATE; ALTER TABLE fk ADD CONSTRAINT n FOREIGN KEY (b) REFERENCES p NOT VALID;
CREATE TABLE inh1 (a int, b text DEFAULT 'q', CHECK (a < 100)); CREATE TABLE inh2 (a int NOT NULL, c int) ; CREATE TABLE inhc (a int DEFAULT 8, d int) INHERITS (inh1, inh2); CREATE TABLE late (x int, a int, b text, CONSTRAINT inh1_a_check CHECK (a < 100)); ALTER TABLE late INHERIT inh1; ALTER TABLE late DROP x; INSERT INTO inhc VALUES (1, 'l', 3, 4); INSERT INTO late VALUES (7, 'late'); ALTER TABLE inhc ALTER b DROP DEFAULT, ALTER c SET NOT NULL;
CREATE TABLE pp (a int, b date DEFAULT '2020-01-01', c int GENERATED ALWAYS AS (a + 1) STORED) PARTITION BY RANGE (b, (a % 2)); CREATE TABLE pp1 (dropped int, c int GENERATED ALWAYS AS (a + 1) STORED, b date, a int); ALTER TABLE pp1 DROP dropped; ALTER TABLE pp ATTACH PARTITION pp1 FOR VALUES FROM (MINVALUE, MINVALUE) TO ('2021-01-01', 0); CREATE TABLE pp2 PARTITION OF pp (b DEFAULT '2022-02-02', CHECK (a > 0)) DEFAULT; INSERT INTO pp (a, b) VALUES (1, '2019-01-01'), (2, '2023-01-01');
CREATE INDEX ppi ON ONLY pp (a); CREATE INDEX pp1i ON pp1 (a); ALTER INDEX ppi ATTACH PARTITION pp1i; CREATE INDEX whole ON pp (b);
CREATE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER cloned AFTER INSERT ON pp FOR EACH ROW EXECUTE FUNCTION trg('a', E'b\\c''d'); ALTER TABLE pp1 DISABLE TRIGGER cloned; ALTER TABLE pp2 ENABLE REPLICA TRIGGER cloned;
CREATE CONSTRAINT TRIGGER ct AFTER UPDATE OF k ON p DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.k <> NEW.k) EXECUTE FUNCTION trg(); CREATE TRIGGER inst INSTEAD OF UPDATE ON grouped FOR EACH ROW EXECUTE FUNCTION trg(); CREATE TRIGGER trunc BEFORE TRUNCATE ON p EXECUTE FUNCTION trg();
CREATE RULE ru AS ON UPDATE TO invoker DO ALSO NOTIFY x; ALTER TABLE p CLUSTER ON pk; CREATE UNIQUE INDEX un ON p (k); ALTER TABLE p REPLICA IDENTITY USING INDEX un; COMMENT ON RULE ru ON invoker IS 'r'; CREATE RULE alw AS ON DELETE TO p DO INSTEAD NOTHING; ALTER TABLE p ENABLE REPLICA RULE alw;
CREATE INDEX ex ON p USING btree (lower(t) text_pattern_ops DESC NULLS LAST, k) INCLUDE (id) WITH (fillfactor = 50) WHERE k > 1; ALTER INDEX ex ALTER COLUMN 1 SET STATISTICS 33; CREATE INDEX g ON p USING gist ((t::tsvector) tsvector_ops (siglen = 100)); CREATE INDEX br ON p USING brin (k) WITH (pages_per_range = 7); CREATE INDEX ha ON p USING hash (t);
CREATE UNLOGGED TABLE ul (id serial, x int GENERATED ALWAYS AS IDENTITY); CREATE UNLOGGED SEQUENCE us; CREATE SEQUENCE sm AS smallint MINVALUE -5 MAXVALUE 5 START 0 INCREMENT BY -1 CYCLE; ALTER SEQUENCE sm OWNED BY p.k; COMMENT ON SEQUENCE sm IS 's'; SELECT nextval('sm'), nextval('sm');
CREATE FUNCTION atomic(a int, OUT b int, OUT c text) RETURNS SETOF record LANGUAGE sql STABLE ROWS 7 SET search_path = public, "x y" SET "DateStyle" = 'SQL, DMY' BEGIN ATOMIC SELECT id, t FROM p WHERE id = a; END; CREATE FUNCTION tbl() RETURNS TABLE (x int) LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION poly(anyelement, anyarray) RETURNS anyelement LANGUAGE sql AS 'SELECT $1'; COMMENT ON FUNCTION atomic IS 'f'; CREATE PROCEDURE pr(OUT b int, a int DEFAULT 1) LANGUAGE sql BEGIN ATOMIC SELECT 1; END; COMMENT ON PROCEDURE pr IS 'p';
CREATE TYPE comp AS (a int, b text COLLATE "C"); COMMENT ON TYPE comp IS 't'; COMMENT ON COLUMN comp.a IS 'a'; CREATE TYPE empty AS (); CREATE TABLE tt OF comp (PRIMARY KEY (a), b WITH OPTIONS DEFAULT 'x' CHECK (b <> '')); ALTER TYPE comp ADD ATTRIBUTE c int CASCADE; ALTER TYPE comp DROP ATTRIBUTE IF EXISTS c CASCADE;
CREATE DOMAIN d1 AS int[] CONSTRAINT one CHECK (array_length(VALUE, 1) = 1); CREATE DOMAIN d2 AS d1 DEFAULT '{5}'; CREATE DOMAIN dc AS comp CHECK ((VALUE).a > 0); CREATE TABLE td (a d2, b dc); INSERT INTO td VALUES (DEFAULT, '(1,x)'); COMMENT ON DOMAIN d1 IS 'd';
CREATE COLLATION nd (provider = icu, locale = 'und', deterministic = false); CREATE TABLE cn (t text COLLATE nd PRIMARY KEY); INSERT INTO cn VALUES ('b'), ('a'); COMMENT ON COLLATION nd IS 'c';
CREATE STATISTICS stx (ndistinct) ON (k + 1), id FROM p; CREATE STATISTICS ste ON (k * 2) FROM p;
CREATE POLICY pol ON fk AS PERMISSIVE FOR SELECT USING (a IN (SELECT id FROM p)); COMMENT ON POLICY pol ON fk IS 'p'; ALTER TABLE p ALTER id SET (n_distinct_inherited = -0.5), ALTER t SET STORAGE MAIN;
CREATE TABLE added (id int); INSERT INTO added VALUES (1); ALTER TABLE added ADD v text DEFAULT 'fast' , ADD u uuid DEFAULT gen_random_uuid(); CREATE TABLE selfref (id int PRIMARY KEY, up int REFERENCES selfref, gen int GENERATED ALWAYS AS IDENTITY); CREATE TABLE cyc1 (id int PRIMARY KEY, o int); CREATE TABLE cyc2 (id int PRIMARY KEY, o int REFERENCES cyc1); ALTER TABLE cyc1 ADD FOREIGN KEY (o) REFERENCES cyc2; INSERT INTO cyc1 VALUES (1); INSERT INTO cyc2 VALUES (1, 1); UPDATE cyc1 SET o = 1;
CREATE PUBLICATION pb FOR TABLE ONLY p, inh1 WITH (publish = 'update, delete');
CREATE FUNCTION later() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TABLE td2 (v int DEFAULT later(), w bigint DEFAULT nextval('us')); CREATE VIEW vf AS SELECT later() AS l; ALTER TABLE p SET (autovacuum_vacuum_scale_factor = 0.5, parallel_workers = 3);
`
