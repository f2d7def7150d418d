package postgres_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/postgres"
	"github.com/google/go-cmp/cmp"
)

// A superuser is a connection as a superuser to the server of a resource.
type superuser struct {
	t   *testing.T
	env []string
	bin string
}

func asSuperuser(t *testing.T, dir string) superuser {
	t.Helper()
	state, err := os.ReadFile(filepath.Join(dir, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	v := jsonvalue.MustParse(string(state))
	socket, _ := v.Get("Socket")
	password, _ := v.Get("Password")
	bin, err := postgres.Programs([]string{"/usr/lib/postgresql/*/bin"}, "", "psql", "pg_dump")
	if err != nil {
		t.Fatal(err)
	}
	return superuser{t, []string{"PGHOST=" + socket.Text(), "PGUSER=git_domarkx", "PGPASSWORD=" + password.Text(), "PGDATABASE=domarkx", "PGSSLMODE=disable",
		"PGOPTIONS=-c role=none -c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c default_transaction_read_only=off"}, bin}
}

func (s superuser) run(program string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v: %s", program, err, out)
	}
	return string(out)
}

// does runs statements.
func (s superuser) does(sql string) {
	s.t.Helper()
	s.run("psql", "-qXv", "ON_ERROR_STOP=1", "-c", sql)
}

// dump returns the complete output of pg_dump for the database, but for privileges, with the rows sorted.
func (s superuser) dump() string {
	s.t.Helper()
	lines := strings.Split(s.run("pg_dump", "--create", "--no-privileges", "--restrict-key=x"), "\n")
	inRows, from := false, 0
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "COPY "):
			inRows, from = true, i+1
		case inRows && line == `\.`:
			slices.Sort(lines[from:i])
			inRows = false
		}
	}
	return strings.Join(lines, "\n")
}

// dumps checks that pg_dump's output equals an earlier one.
func (s superuser) dumps(want string) {
	s.t.Helper()
	got := s.dump()
	if got == want {
		return
	}
	dir := s.t.TempDir()
	for name, text := range map[string]string{"want": want, "got": got} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	diff, _ := exec.Command("diff", "-U1", filepath.Join(dir, "want"), filepath.Join(dir, "got")).Output()
	s.t.Errorf("the output of pg_dump changed:\n%s", diff)
}

func TestExact(t *testing.T) {
	db, dir := emptied(t)
	su := asSuperuser(t, dir)
	m := plugintest.NewMemory()
	db.Execute(everything)
	db.Execute(unusual)
	before := su.dump()
	views := db.Query("SELECT (SELECT json_agg(s) FROM app.secured s), (SELECT json_agg(z) FROM app.zz z), (SELECT count FROM app.aa), (SELECT count FROM mv)")
	version := db.Commit(m)
	db.Load(m, version)
	su.dumps(before)
	if got := db.Query("SELECT (SELECT json_agg(s) FROM app.secured s), (SELECT json_agg(z) FROM app.zz z), (SELECT count FROM app.aa), (SELECT count FROM mv)"); got != views {
		t.Errorf("views had %s and have %s", views, got)
	}
	if again := db.Commit(m); again != version {
		t.Errorf("the version changed after a load:\n%s", cmp.Diff(databasetest.Files(t, m, version), databasetest.Files(t, m, again)))
	}
}

// external opens a database of a server as an existing one of the user.
func (s superuser) external(name string) *databasetest.DB {
	s.t.Helper()
	dsn := "host=" + s.getenv("PGHOST") + " user=domarkx dbname=" + name + " password=" + s.getenv("PGPASSWORD")
	return databasetest.Open(s.t, planted{}, domarkx.Env{Dir: s.t.TempDir(), Allow: domarkx.Allow{DSNs: []string{dsn}},
		Config: jsonvalue.ObjectValue(jsonvalue.Member{Name: "dsn", Value: jsonvalue.StringValue(dsn)})})
}

func (s superuser) getenv(name string) string {
	for _, v := range s.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// TestExactExternal checks that a database of the user is restored exactly, including policies for
// other roles if these exist, and that a copy on a private server gives the same version.
func TestExactExternal(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	_, own := emptied(t)
	su := asSuperuser(t, own)
	su.withRoles(`"W %I"`)
	su.does(`ALTER DATABASE domarkx SET log_min_duration_statement = 5000; ALTER ROLE domarkx IN DATABASE domarkx SET lock_timeout = '1min'`)
	db := su.external("domarkx")
	m := plugintest.NewMemory()
	empty, emptyDump := db.Commit(m), su.dump()
	db.Execute(everything)
	db.Execute(unusual)
	db.Execute(`ALTER TABLE a NO FORCE ROW LEVEL SECURITY;
		ALTER DATABASE domarkx SET array_nulls = off; ALTER DATABASE domarkx SET standard_conforming_strings = off; ALTER DATABASE domarkx SET quote_all_identifiers = on; ALTER DATABASE domarkx SET role = pg_monitor;
		ALTER DATABASE domarkx SET default_transaction_read_only = on; ALTER DATABASE domarkx SET statement_timeout = '2ms'; ALTER DATABASE domarkx SET idle_in_transaction_session_timeout = '2ms';
		CREATE EXTENSION tcn SCHEMA pg_catalog; CREATE POLICY theirs ON app.dup TO "W %I" USING (true); CREATE POLICY mine ON app.dup TO domarkx USING (v = 1)`)
	full, fullDump := db.Commit(m), su.dump()
	db.Load(m, empty)
	su.dumps(emptyDump)
	db.Load(m, full)
	su.dumps(fullDump)
	if again := db.Commit(m); again != full {
		t.Errorf("the version changed after a load:\n%s", cmp.Diff(databasetest.Files(t, m, full), databasetest.Files(t, m, again)))
	}
	private := databasetest.Open(t, planted{}, domarkx.Env{Dir: dir(t), Private: true,
		Config: jsonvalue.ObjectValue(jsonvalue.Member{Name: "dsn", Value: jsonvalue.StringValue("host=/nowhere")})})
	private.Load(m, full)
	if again := private.Commit(m); again != full {
		t.Errorf("another version elsewhere:\n%s", cmp.Diff(databasetest.Files(t, m, full), databasetest.Files(t, m, again)))
	}
	if err := db.Live.(domarkx.LoadChecker).CheckLoad(t.Context(), m, "", full); err != nil {
		t.Error(err)
	}
	db.Load(m, empty)
	su.does(`DROP ROLE "W %I"`)
	if err := db.Live.(domarkx.LoadChecker).CheckLoad(t.Context(), m, "", full); err == nil || !strings.Contains(err.Error(), "server does not have: W %I") {
		t.Errorf("CheckLoad without a role: %v", err)
	}
	if err := db.Live.Load(t.Context(), m, full); err == nil || !strings.Contains(err.Error(), "server does not have: W %I") {
		t.Errorf("loaded although a role is missing: %v", err)
	}
	su.dumps(emptyDump)
}

// TestCommitIsNoSuperuser checks that functions which the server runs while it plans to read rows do
// not run as a superuser, who could reach files and programs.
func TestCommitIsNoSuperuser(t *testing.T) {
	db, _ := emptied(t)
	db.Execute(`CREATE FUNCTION who() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN
  IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = session_user) THEN RAISE EXCEPTION 'it runs as a superuser'; END IF; RETURN 1; END$$;
CREATE TABLE t (v int, secret text); INSERT INTO t VALUES (1, 'x'), (2, 'y'); CREATE INDEX ON t ((v + who())) WHERE who() = 1; CREATE STATISTICS s ON (v * who()), v FROM t;
REVOKE ALL ON t FROM domarkx; REVOKE USAGE ON SCHEMA public FROM PUBLIC; ALTER TABLE t ENABLE ROW LEVEL SECURITY; ALTER TABLE t FORCE ROW LEVEL SECURITY;
ALTER DATABASE domarkx SET constraint_exclusion = on; ALTER TABLE t ADD CHECK (v > 0 AND who() = 1)`)
	m := plugintest.NewMemory()
	version := db.Commit(m)
	if got := databasetest.Files(t, m, version)["tables/public/t.copy"]; got != "1\tx\n2\ty\n" {
		t.Errorf("rows: %q", got)
	}
	if testing.Short() {
		return
	}
	db.Load(m, version)
	if again := db.Commit(m); again != version {
		t.Errorf("the version changed after a load:\n%s", cmp.Diff(databasetest.Files(t, m, version), databasetest.Files(t, m, again)))
	}
}

// TestCommitRunsNothing checks that a commit runs no functions of the database while a superuser
// reads its catalogs.
func TestCommitRunsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	db, _ := emptied(t)
	db.Execute(`CREATE TYPE pair AS (a int, b int); CREATE TYPE mood AS ENUM ('x');
CREATE FUNCTION ran(pair) RETURNS text LANGUAGE plpgsql AS $$BEGIN PERFORM setval('s', 99); RETURN current_user; END$$;
CREATE FUNCTION ran(mood) RETURNS text LANGUAGE plpgsql AS $$BEGIN PERFORM setval('s', 99); RETURN current_user; END$$;
CREATE FUNCTION public.eq(text, name) RETURNS bool LANGUAGE plpgsql AS $$BEGIN PERFORM setval('s', 99); RETURN true; END$$;
CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = name, FUNCTION = public.eq);
CREATE CAST (pair AS text) WITH FUNCTION ran(pair); CREATE CAST (mood AS text) WITH FUNCTION ran(mood) AS ASSIGNMENT;
CREATE SEQUENCE s; CREATE TABLE t (p pair, m mood, d pair[]); INSERT INTO t SELECT (i % 3, NULL::int)::pair, 'x'::mood, ARRAY[(1, i)::pair] FROM generate_series(1, 9) i; INSERT INTO t VALUES (NULL, NULL, NULL), ((NULL, NULL)::pair, NULL, '{}');
CREATE TABLE nulls (v text); INSERT INTO nulls VALUES (NULL), (''), (NULL), ('');
ALTER DATABASE domarkx SET search_path = public, pg_catalog`)
	m := plugintest.NewMemory()
	version := db.Commit(m)
	if got := db.Query("SELECT is_called FROM s"); got != "[[false]]" {
		t.Error("a function of the database was run")
	}
	db.Load(m, version)
	if again := db.Commit(m); again != version {
		t.Errorf("the version changed after a load:\n%s", cmp.Diff(databasetest.Files(t, m, version), databasetest.Files(t, m, again)))
	}
	if got := databasetest.Files(t, m, version)["tables/public/nulls.copy"]; got != "\n\n\\N\n\\N\n" {
		t.Errorf("rows: %q", got)
	}
}

// TestRefused checks that a commit refuses, by name, objects that a version cannot contain.
func TestRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	private, own := emptied(t)
	su := asSuperuser(t, own)
	su.withRoles("other")
	su.does("GRANT CREATE ON SCHEMA public TO other; CREATE EXTENSION postgres_fdw; REVOKE CREATE ON SCHEMA public FROM other")
	db := su.external("domarkx")
	m := plugintest.NewMemory()
	for _, group := range [][]struct{ sql, want, undo string }{{ // an error names at most ten
		{"CREATE TABLE t (v int); ALTER TABLE t OWNER TO other", "table public.t belongs to the role other", "DROP TABLE t"},
		{"CREATE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function public.g() belongs to the role git_domarkx", "DROP FUNCTION g"},
		{"CREATE TYPE e AS ENUM ()", "type public.e belongs to the role git_domarkx", "DROP TYPE e"},
		{"CREATE SCHEMA s AUTHORIZATION other", "schema s belongs to the role other", "DROP SCHEMA s"},
		{"CREATE PUBLICATION p FOR ALL TABLES", "publication p belongs to the role git_domarkx", "DROP PUBLICATION p"},
		{"SELECT lo_create(12345)", "large object 12345 can be in no version", "SELECT lo_unlink(12345)"},
	}, {
		{"CREATE FUNCTION c(internal) RETURNS internal LANGUAGE internal AS 'int4in'; ALTER FUNCTION c OWNER TO domarkx", "function public.c(pg_catalog.internal) only superusers can make", "DROP FUNCTION c"},
		{"CREATE ACCESS METHOD am TYPE INDEX HANDLER bthandler", "access method am only superusers", "DROP ACCESS METHOD am"},
		{"CREATE TABLE t (v int); INSERT INTO t VALUES (1), (1); ALTER TABLE t OWNER TO domarkx; CREATE INDEX i ON t (v); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'i'::regclass", "index public.i is not valid", "DROP TABLE t"},
		{"CREATE SERVER f FOREIGN DATA WRAPPER postgres_fdw; ALTER SERVER f OWNER TO domarkx; CREATE USER MAPPING FOR domarkx SERVER f OPTIONS (user 'u', password 'secret')", "the user mapping for server f has a password", "DROP SERVER f CASCADE"},
		{"CREATE FUNCTION g() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; ALTER FUNCTION g OWNER TO domarkx; CREATE EVENT TRIGGER e ON sql_drop EXECUTE FUNCTION g()", "event trigger e belongs to", "DROP FUNCTION g CASCADE"},
	}, {
		{"CREATE SUBSCRIPTION sub CONNECTION 'host=/nowhere' PUBLICATION p WITH (connect = false)", "subscription sub is to another server", "ALTER SUBSCRIPTION sub SET (slot_name = NONE); DROP SUBSCRIPTION sub"},
	}} {
		var make, undo string
		for _, tt := range group {
			make, undo = make+tt.sql+"; ", undo+tt.undo+"; "
		}
		su.does(make)
		for what, live := range map[string]domarkx.Resource{"external": db.Live, "private": private.Live} {
			w, err := m.Begin(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			err = live.Commit(t.Context(), w)
			for _, tt := range group {
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %s: %v", what, tt.sql, err)
				}
			}
		}
		su.does(undo)
	}
	su.does("DROP EXTENSION postgres_fdw")
	db.Commit(m)
	private.Execute("DO $$BEGIN EXECUTE format('CREATE FUNCTION large() RETURNS text LANGUAGE sql AS %L', 'SELECT ''' || repeat('x', 68000000) || ''''); END$$")
	w, err := m.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := private.Live.Commit(t.Context(), w); err == nil || !strings.Contains(err.Error(), "more than 64 MiB of SQL") {
		t.Errorf("a schema that is too large to be loaded: %v", err)
	}
}

const unusual = `
CREATE SCHEMA app; COMMENT ON SCHEMA app IS 'it''s';
CREATE TABLE app.z (id int PRIMARY KEY, secret text, b bytea, arr int[][], r int4range, ts timestamptz, f4 real, n numeric, j jsonb, iv interval, bt bit varying, big text);
INSERT INTO app.z VALUES (1, E'\x01\x7fä€😀\\ \r\n', '\x00ff0a5c', '{{1,2},{NULL,4}}', '[1,5)', '2020-01-01 00:00:00.123456+05', 'NaN', 'NaN', '{"a": [1.0, null]}', '-1 mon 3 days 04:05:06.7', B'101', repeat(md5('x'), 100000)),
 (2, '', '', '{}', 'empty', '-infinity', '-Infinity', 'Infinity', 'null', '0', B'', NULL), (3, NULL, NULL, NULL, '(,)', 'infinity', 1e-40, 1e100, NULL, NULL, NULL, 'NULL');
CREATE TABLE app.dup (v int, w float8); INSERT INTO app.dup VALUES (1, '-0'), (1, 0), (1, 0), (NULL, NULL), (NULL, NULL);
CREATE UNLOGGED TABLE app.unlogged (v int) WITH (fillfactor = 70, autovacuum_enabled = off, toast.autovacuum_enabled = off); INSERT INTO app.unlogged VALUES (7);
CREATE TYPE app.pair AS (a int, b text); CREATE TYPE app.span AS RANGE (subtype = float8);
CREATE TABLE app.typed OF app.pair; INSERT INTO app.typed VALUES (1, '(x)'); CREATE TABLE app.comp (p app.pair, ps app.pair[], s app.span); INSERT INTO app.comp VALUES ((1, 'a,"b'), ARRAY[(2, NULL)::app.pair], '[1,2]');
CREATE DOMAIN app.word AS text COLLATE "C" DEFAULT 'w' NOT NULL; ALTER DOMAIN app.word ADD CONSTRAINT short CHECK (length(VALUE) < 9) NOT VALID; COMMENT ON CONSTRAINT short ON DOMAIN app.word IS 'c';
CREATE COLLATION app.coll FROM "C";
CREATE FUNCTION app.f(a int, VARIADIC b text[] DEFAULT '{}') RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 5 SET work_mem = '1MB' RETURN $1 + 1;
CREATE PROCEDURE app.proc(INOUT x int) LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN x := 1; END$$;
CREATE AGGREGATE app.agg(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0');
CREATE OPERATOR app.<+> (LEFTARG = int, RIGHTARG = int, FUNCTION = int4pl);
CREATE CAST (app.pair AS app.word) WITH INOUT;
CREATE TEXT SEARCH CONFIGURATION app.tsc (COPY = simple); ALTER TEXT SEARCH CONFIGURATION app.tsc DROP MAPPING FOR email;
CREATE TABLE app.ident (a int GENERATED BY DEFAULT AS IDENTITY (START 5 INCREMENT -2 MAXVALUE 100 MINVALUE -100 CYCLE CACHE 3), b serial, c smallserial);
INSERT INTO app.ident DEFAULT VALUES; INSERT INTO app.ident DEFAULT VALUES; ALTER TABLE app.ident ALTER a RESTART; SELECT setval('app.ident_b_seq', 42, false);
CREATE TABLE app.part (id int, k text, PRIMARY KEY (id, k)) PARTITION BY LIST (k); CREATE TABLE app.part_a PARTITION OF app.part FOR VALUES IN ('a') PARTITION BY HASH (id);
CREATE TABLE app.part_a0 PARTITION OF app.part_a FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE app.part_a1 PARTITION OF app.part_a FOR VALUES WITH (MODULUS 2, REMAINDER 1); CREATE TABLE app.part_d PARTITION OF app.part DEFAULT;
INSERT INTO app.part SELECT i, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'z' || i END FROM generate_series(1, 20) i;
CREATE INDEX on_part ON app.part (k); ALTER INDEX app.part_d_k_idx SET (fillfactor = 60); ALTER TABLE app.part_d CLUSTER ON part_d_pkey;
ALTER TABLE app.z REPLICA IDENTITY FULL; ALTER TABLE app.z ALTER big SET STORAGE EXTERNAL, ALTER secret SET STATISTICS 77, ALTER id SET (n_distinct = 5); ALTER TABLE app.z ALTER secret SET COMPRESSION pglz;
CREATE STATISTICS app.st (dependencies, mcv) ON id, secret FROM app.z; ALTER STATISTICS app.st SET STATISTICS 5; COMMENT ON STATISTICS app.st IS 's';
CREATE TABLE app.log (v int); ALTER TABLE app.log ADD CONSTRAINT positive CHECK (v > 0) NOT VALID; ALTER TABLE app.log ADD CONSTRAINT ex EXCLUDE USING btree (v WITH =) DEFERRABLE INITIALLY DEFERRED;
CREATE RULE r AS ON INSERT TO app.log WHERE NEW.v > 5 DO INSTEAD NOTHING; ALTER TABLE app.log DISABLE RULE r;
CREATE TRIGGER off AFTER UPDATE ON app.log REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION f(); ALTER TABLE app.log DISABLE TRIGGER off; CREATE TRIGGER always BEFORE DELETE ON app.log FOR EACH ROW EXECUTE FUNCTION f(); ALTER TABLE app.log ENABLE ALWAYS TRIGGER always;
COMMENT ON TRIGGER off ON app.log IS 't'; COMMENT ON COLUMN app.log.v IS 'c'; COMMENT ON FUNCTION app.f IS 'f';
CREATE MATERIALIZED VIEW app.zz AS SELECT id FROM app.z; CREATE VIEW app.over_zz WITH (security_barrier) AS SELECT * FROM app.zz WHERE id > 1; CREATE VIEW app.checked AS SELECT id FROM app.z WHERE id > 1 WITH LOCAL CHECK OPTION; CREATE MATERIALIZED VIEW app.aa AS SELECT count(*) FROM app.over_zz; CREATE UNIQUE INDEX ON app.zz (id);
CREATE MATERIALIZED VIEW app.secured AS SELECT id, v FROM a;
CREATE MATERIALIZED VIEW app.bb AS SELECT 1 AS one; CREATE MATERIALIZED VIEW app.ab AS SELECT 2 AS two;
CREATE PUBLICATION pub FOR TABLE app.z (id, secret) WHERE (id > 1), app.part WITH (publish = 'insert', publish_via_partition_root); COMMENT ON PUBLICATION pub IS 'p';
CREATE POLICY for_role ON app.z AS RESTRICTIVE FOR UPDATE TO pg_monitor, domarkx USING (id > 0) WITH CHECK (id < 9);
ALTER DATABASE domarkx CONNECTION LIMIT 50 IS_TEMPLATE true;
ALTER DATABASE domarkx SET search_path = app, "$user", public; ALTER DATABASE domarkx SET work_mem = '65536'; DO 'BEGIN END'; ALTER DATABASE domarkx SET plpgsql.extra_warnings = 'shadowed_variables'; ALTER DATABASE domarkx SET application_name = 'a "quoted" ''value'' \'; COMMENT ON DATABASE domarkx IS 'the ''database''';
`
