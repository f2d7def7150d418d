package postgres_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/postgres"
)

// dir returns a directory for a resource; the server in it is removed at the end of the test.
func dir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		live, err := postgres.New().Open(context.Background(), domarkx.Env{Dir: dir, Config: jsonvalue.ObjectValue()})
		if err == nil {
			err = live.TearDown(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestTools makes calls to one server, one group after the other.
func TestTools(t *testing.T) {
	db, _ := emptied(t)
	for _, group := range []struct {
		name string
		run  func(*testing.T, *databasetest.DB)
	}{{"results", testResults}, {"cancel", testCancel}, {"failed load", testFailedLoad}, {"confined", testConfined}} {
		t.Run(group.name, func(t *testing.T) { group.run(t, &databasetest.DB{T: t, Live: db.Live}) })
	}
}

func testResults(t *testing.T, db *databasetest.DB) {
	for _, step := range []struct{ tool, sql, args, want string }{
		{"execute", "CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text UNIQUE, b bytea)", "", `{"rows_affected":0}`},
		{"execute", "INSERT INTO t (v, b) VALUES ($1, $2)", `["é", {"base64": "AP8="}]`, `{"rows_affected":1}`},
		{"execute", "INSERT INTO t (v) VALUES ('a'), (NULL); DELETE FROM t WHERE v = 'a'; UPDATE t SET v = 'x' WHERE v IS NULL RETURNING id", "", `{"rows_affected":4,"columns":["id"],"rows":[[3]]}`},
		{"query", "SELECT * FROM t ORDER BY id -- all", "", `{"columns":["id","v","b"],"rows":[[1,"é",{"base64":"AP8="}],[3,"x",null]]}`},
		{"query", "SELECT 9007199254740993, 1.10::numeric, 0.1::float4, 'NaN'::float8, 2::float8, true, timestamptz '2024-01-02 03:04:05+01', '{1,2}'::int[], '{\"a\": 1}'::json", "",
			`{"columns":["?column?","numeric","float4","float8","float8","?column?","timestamptz","int4","json"],"rows":[["9007199254740993","1.10",0.1,"NaN",2.0,true,"2024-01-02 02:04:05+00","{1,2}","{\"a\": 1}"]]}`},
		{"query", "SELECT $1::int + $2, $3::bool, $4::text", `[1, 2, true, null]`, `{"columns":["?column?","bool","text"],"rows":[[3,true,null]]}`},
		{"query", "SELECT $1::int", "", `invalid: args do not fit the statement: bind message supplies 0 parameters, but prepared statement "" requires 1 (SQLSTATE 08P01)`},
		{"query", "SELECT :a", `{"a": 1}`, `invalid: args: "a" is a name, expected a list for $1, $2, …`},
		{"query", "SELECT 1; SELECT 2", "", `failed: cannot insert multiple commands into a prepared statement (SQLSTATE 42601)`},
		{"query", "SELEC 1", "", "failed: syntax error at or near \"SELEC\" (SQLSTATE 42601)\nat character 1"},
		{"query", "INSERT INTO t (v) VALUES ('q')", "", `refused: cannot execute INSERT in a read-only transaction (SQLSTATE 25006)`},
		{"execute", "INSERT INTO t (v) VALUES ('z'); INSERT INTO t (v) VALUES ('z')", "", "failed: duplicate key value violates unique constraint \"t_v_key\" (SQLSTATE 23505)\nKey (v)=(z) already exists."},
		{"execute", "BEGIN; DELETE FROM t", "", `invalid: the transaction was left open, and is rolled back; end it with COMMIT`},
		{"execute", "BEGIN; DELETE FROM t; ROLLBACK", "", `{"rows_affected":2}`},
		{"execute", "VACUUM t", "", `{"rows_affected":0}`},
		{"execute", "COPY t (v) FROM STDIN", "", "failed: COPY from stdin failed: rows cannot be sent here; use INSERT (SQLSTATE 57014)"},
		{"execute", "DELETE FROM t; COPY t (v) FROM STDIN;\nq\n\\.\n", "", "failed: syntax error at or near \"q\" (SQLSTATE 42601)\nat character 39"},
		{"execute", "DELETE FROM t; COPY t (v) FROM STDIN; DELETE FROM t", "", "failed: COPY from stdin failed: rows cannot be sent here; use INSERT (SQLSTATE 57014)"},
		{"execute", "COPY t TO STDOUT", "", `invalid: COPY … TO STDOUT returns nothing here; use the tool query. The other statements of this call took effect`},
		{"query", "COPY t TO STDOUT", "", `invalid: COPY … TO STDOUT returns nothing here; use the tool query. The other statements of this call took effect`},
		{"query", "SELECT count(*) FROM t", "", `{"columns":["count"],"rows":[[2]]}`},
		{"execute", "DROP TABLE t; CREATE VIEW w AS SELECT 1 AS one", "", `{"rows_affected":0}`},
		{"schema", "", "", `{"tables":[{"schema":"public","name":"w","type":"view","definition":" SELECT 1 AS one;","columns":[{"name":"one","type":"integer","not_null":false,"default":null}],"indexes":[],"constraints":[],"triggers":[]}]}`},
		{"nothing", "", "", `unknown_tool: no tool "nothing"`},
	} {
		if got := db.Try(step.tool, step.sql, step.args); got != step.want {
			t.Errorf("%s %q %s:\n got %s\nwant %s", step.tool, step.sql, step.args, got, step.want)
		}
	}
	got := db.Try("query", "SELECT i, repeat(' ', 100000) FROM generate_series(1, 50) AS i", "")
	if !strings.HasSuffix(got, "with 5000476 bytes attached") {
		t.Errorf("a long result: %s", got)
	}
}

// testConfined checks that no statement reaches beyond the database, that no query changes it, and
// that no statement can lock the tools out.
func testConfined(t *testing.T, db *databasetest.DB) {
	db.Execute("CREATE TABLE t (v int); INSERT INTO t VALUES (1); CREATE SEQUENCE s")
	elsewhere := filepath.Join(t.TempDir(), "other")
	for _, step := range []struct{ tool, sql string }{
		{"execute", "COPY t TO 'FILE'"},
		{"execute", "COPY t FROM '/etc/passwd'"},
		{"execute", "COPY t TO PROGRAM 'touch FILE'"},
		{"execute", "SELECT pg_read_file('/etc/passwd')"},
		{"execute", "SELECT lo_import('/etc/passwd')"},
		{"execute", "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/lib/x.so'"},
		{"execute", "CREATE EXTENSION dblink"},
		{"execute", "CREATE DATABASE other"},
		{"execute", "CREATE ROLE other"},
		{"execute", "ALTER ROLE domarkx SUPERUSER"},
		{"execute", "SET SESSION AUTHORIZATION git_domarkx"},
		{"execute", "ALTER SYSTEM SET port = 1"},
		{"query", "SELECT nextval('s')"},
		{"query", "SELECT set_config('transaction_read_only', 'off', false), (SELECT count(*) FROM t)"},
		{"query", "COPY t TO '/tmp/x'"},
	} {
		if got := db.Try(step.tool, strings.ReplaceAll(step.sql, "FILE", elsewhere), ""); strings.HasPrefix(got, "{") {
			t.Errorf("%s %q: %s", step.tool, step.sql, got)
		}
	}
	if _, err := os.Lstat(elsewhere); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another file was made: %v", err)
	}
	db.Execute("ALTER ROLE domarkx PASSWORD 'mine'")
	db.Execute("ALTER ROLE domarkx SET default_transaction_read_only = on")
	if err := db.Live.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	db.Execute("INSERT INTO t VALUES (2)")
	if got := db.Query("SELECT * FROM t ORDER BY v"); got != "[[1],[2]]" {
		t.Errorf("t: %s", got)
	}
}

func testCancel(t *testing.T, db *databasetest.DB) {
	db.Query("SELECT 1")
	for _, tool := range []string{"query", "execute"} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		_, err := db.Live.Execute(ctx, domarkx.Call{Tool: tool, Arguments: jsonvalue.MustParse(`{"sql": "SELECT pg_sleep(1000)"}`)})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if got := db.Query("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND state = 'active' AND pid <> pg_backend_pid()"); got != "[[0]]" {
		t.Errorf("still running: %s", got)
	}
}

// testFailedLoad checks that a version that cannot be loaded leaves the database unchanged.
func testFailedLoad(t *testing.T, db *databasetest.DB) {
	db.Execute("CREATE TABLE kept (v int)")
	m := plugintest.NewMemory()
	version := db.Commit(m)
	m.Forget()
	if err := db.Live.Load(context.Background(), m, version); err == nil {
		t.Error("loaded what is not there")
	}
	if got := db.Query("SELECT count(*) FROM kept"); got != "[[0]]" {
		t.Errorf("kept: %s", got)
	}
}
