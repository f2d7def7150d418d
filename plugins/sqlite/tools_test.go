package sqlite_test

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
	"github.com/domarkx/domarkx/plugins/sqlite"
)

func open(t *testing.T) *databasetest.DB {
	t.Helper()
	return databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: t.TempDir()})
}

func TestTools(t *testing.T) {
	db := open(t)
	for _, step := range []struct{ tool, sql, args, want string }{
		{"execute", "CREATE TABLE t (id INTEGER PRIMARY KEY, v, u TEXT UNIQUE)", "", `{"rows_affected":0}`},
		{"execute", "INSERT INTO t (v) VALUES (?)", `[{"base64": "AP8="}]`, `{"rows_affected":1,"last_insert_rowid":1}`},
		{"execute", "INSERT INTO t (v) VALUES (1), (2.0), ('é'), (NULL), (9007199254740993), (9e999); DELETE FROM t WHERE v = 1", "", `{"rows_affected":7,"last_insert_rowid":7}`},
		{"query", "SELECT v, typeof(v) FROM t -- all", "", `{"columns":["v","typeof(v)"],"rows":[[{"base64":"AP8="},"blob"],[2.0,"real"],["é","text"],[null,"null"],["9007199254740993","integer"],["Infinity","real"]]}`},
		{"query", "SELECT :a + @b, $c", `{"a": 1, "b": 2.5, "c": true}`, `{"columns":[":a + @b","$c"],"rows":[[3.5,1]]}`},
		{"query", "SELECT ?2, ?1", `["x", 9007199254740993]`, `{"columns":["?2","?1"],"rows":[["9007199254740993","x"]]}`},
		{"query", "SELECT :a", `{"b": 1}`, `invalid: args has nothing for parameter 1 ":a"`},
		{"query", "SELECT ?", "", `invalid: 0 args for 1 parameters`},
		{"query", "SELECT 1", `[2]`, `invalid: 1 args for 0 parameters`},
		{"query", "SELECT ?", `[9223372036854775808]`, `invalid: args, item 1: the number is too large; give it as a string`},
		{"query", "SELECT ?", `[1e400]`, `invalid: args, item 1: the number is too large; give it as a string`},
		{"query", "SELECT ?", `[{"base64": "!"}]`, `invalid: args, item 1: base64 is not valid Base64 (RFC 4648, section 4)`},
		{"query", "SELECT :a", `{"": 1}`, `invalid: args, "": expected the name of a parameter`},
		{"query", "SELECT ?", `[[1]]`, `invalid: args, item 1: expected a string, number, boolean, null or {"base64": "…"}`},
		{"query", "SELECT 1; SELECT 2", "", `invalid: more than one statement, expected one; execute runs several`},
		{"query", " -- nothing", "", `invalid: no statement in the SQL`},
		{"query", "SELEC 1", "", `failed: near "SELEC": syntax error`},
		{"query", "SELECT CAST(x'ff' AS TEXT)", "", `{"columns":["CAST(x'ff' AS TEXT)"],"rows":[[{"base64":"/w=="}]]}`},
		{"query", "PRAGMA user_version", "", `{"columns":["user_version"],"rows":[[0]]}`},
		{"execute", "UPDATE t SET v = 0 RETURNING id", "", `{"rows_affected":6,"columns":["id"],"rows":[[1],[3],[4],[5],[6],[7]]}`},
		{"execute", "INSERT INTO t (u) VALUES ('a'); INSERT INTO t (u) VALUES ('a')", "", `failed: UNIQUE constraint failed: t.u`},
		{"query", "SELECT count(*) FROM t", "", `{"columns":["count(*)"],"rows":[[6]]}`},
		{"execute", "BEGIN; DELETE FROM t; ROLLBACK", "", `{"rows_affected":6}`},
		{"execute", "BEGIN; DELETE FROM t", "", `invalid: the transaction was left open, and is rolled back; end it with COMMIT`},
		{"execute", "SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; RELEASE s", "", `{"rows_affected":6}`},
		{"execute", "/* c */ ; vacuum; PRAGMA user_version = 7", "", `{"rows_affected":0}`},
		{"query", "SELECT count(*), (SELECT user_version FROM pragma_user_version) FROM t", "", `{"columns":["count(*)","(SELECT user_version FROM pragma_user_version)"],"rows":[[6,7]]}`},
		{"execute", "CREATE INDEX i ON t (v); CREATE VIEW w AS SELECT v FROM t", "", `{"rows_affected":0}`},
		{"schema", "", "", `{"tables":[{"name":"t","type":"table","sql":"CREATE TABLE t (id INTEGER PRIMARY KEY, v, u TEXT UNIQUE)","columns":[` +
			`{"name":"id","type":"INTEGER","not_null":false,"default":null,"primary_key":1,"hidden":false},` +
			`{"name":"v","type":"","not_null":false,"default":null,"primary_key":0,"hidden":false},` +
			`{"name":"u","type":"TEXT","not_null":false,"default":null,"primary_key":0,"hidden":false}],"indexes":[` +
			`{"name":"i","unique":false,"sql":"CREATE INDEX i ON t (v)","columns":["v"]},` +
			`{"name":"sqlite_autoindex_t_1","unique":true,"sql":null,"columns":["u"]}]},` +
			`{"name":"w","type":"view","sql":"CREATE VIEW w AS SELECT v FROM t","columns":[` +
			`{"name":"v","type":"BLOB","not_null":false,"default":null,"primary_key":0,"hidden":false}],"indexes":[]}],"triggers":[]}`},
		{"execute", "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('one two')", "", `{"rows_affected":1,"last_insert_rowid":1}`},
		{"query", "SELECT x FROM f WHERE f MATCH 'two'", "", `{"columns":["x"],"rows":[["one two"]]}`},
		{"query", "DELETE FROM f", "", `refused: the statement changes the database; execute does that`},
		{"execute", "PRAGMA auto_vacuum = 1; VACUUM", "", `{"rows_affected":0}`},
		{"nothing", "", "", `unknown_tool: no tool "nothing"`},
	} {
		if got := db.Try(step.tool, step.sql, step.args); got != step.want {
			t.Errorf("%s %q %s:\n got %s\nwant %s", step.tool, step.sql, step.args, got, step.want)
		}
	}
}

// TestConfined checks that no statement reaches beyond the database, and that no query changes it.
func TestConfined(t *testing.T) {
	db := open(t)
	db.Execute("CREATE TABLE t (v); INSERT INTO t VALUES (1)")
	elsewhere := filepath.Join(t.TempDir(), "other")
	for _, step := range []struct{ tool, sql, args string }{
		{"execute", "ATTACH 'FILE' AS x", ""},
		{"execute", "ATTACH 'FI' || 'LE' AS x", ""},
		{"execute", "ATTACH ? AS x", `["FILE"]`},
		{"execute", "ATTACH 'file:FILE?mode=rwc' AS x", ""},
		{"execute", "VACUUM INTO 'FILE'", ""},
		{"execute", "VACUUM INTO ?", `["FILE"]`},
		{"execute", "SELECT load_extension('FILE')", ""},
		{"execute", "PRAGMA temp_store_directory = '/'", ""},
		{"execute", "PRAGMA writable_schema = 1", ""},
		{"execute", "PRAGMA journal_mode = OFF", ""},
		{"execute", "PRAGMA database_list", ""},
		{"execute", "SELECT * FROM pragma_database_list", ""},
		{"execute", "DELETE FROM sqlite_schema", ""},
		{"execute", "SELECT writefile('FILE', 'x')", ""},
		{"query", "DELETE FROM t", ""},
		{"query", "PRAGMA query_only = 0", ""},
		{"query", "PRAGMA user_version = 5", ""},
		{"query", "PRAGMA journal_mode = WAL", ""},
		{"query", "DELETE FROM t RETURNING v", ""},
		{"query", "CREATE TEMP TABLE x (y)", ""},
		{"query", "BEGIN", ""},
		{"query", "ATTACH ':memory:' AS x", ""},
		{"query", "VACUUM", ""},
		{"query", "SELECT * FROM pragma_database_list", ""},
		{"query", "EXPLAIN DELETE FROM t", ""},
		{"query", "SELECT zeroblob(1000000000)", ""},
	} {
		sql := strings.ReplaceAll(step.sql, "FILE", elsewhere)
		args := strings.ReplaceAll(step.args, "FILE", elsewhere)
		if got := db.Try(step.tool, sql, args); strings.HasPrefix(got, "{") {
			t.Errorf("%s %q: %s", step.tool, sql, got)
		}
	}
	if _, err := os.Lstat(elsewhere); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another file was made: %v", err)
	}
	if got := db.Query("SELECT * FROM t"); got != "[[1]]" {
		t.Errorf("t: %s", got)
	}
}

// TestReadingVirtualTables checks that R*Trees can be queried, although SQLite prepares statements
// that change their rows as soon as a statement names them.
func TestReadingVirtualTables(t *testing.T) {
	for _, make := range []string{"CREATE VIRTUAL TABLE v USING rtree(id, low, high); INSERT INTO v VALUES (1, 2, 3)",
		"CREATE VIRTUAL TABLE v USING geopoly(label); INSERT INTO v(_shape, label) VALUES ('[[0,0],[1,0],[0,1],[0,0]]', 'x')",
		"CREATE VIRTUAL TABLE v USING fts5(x); INSERT INTO v VALUES ('y')"} {
		db := open(t)
		db.Execute(make)
		if got := db.Query("SELECT count(*) FROM v"); got != "[[1]]" {
			t.Errorf("%s: %s", make, got)
		}
		if got := db.Try("schema", "", ""); !strings.HasPrefix(got, `{"tables":[{"name":"v","type":"virtual"`) {
			t.Errorf("%s: %s", make, got)
		}
		if got := db.Try("query", "DELETE FROM v", ""); got != "refused: the statement changes the database; execute does that" {
			t.Errorf("%s: %s", make, got)
		}
	}
}

func TestLongResult(t *testing.T) {
	db := open(t)
	got := db.Try("query", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, printf('%100000d', i) FROM n LIMIT 50", "")
	if !strings.HasSuffix(got, "with 5000491 bytes attached") {
		t.Errorf("got %s", got)
	}
	// A query without an end.
	r, err := db.Live.Execute(context.Background(), domarkx.Call{Tool: "query", Arguments: jsonvalue.MustParse(
		`{"sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT printf('%1000000d', i) FROM n"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Attachment.Close(); err != nil {
		t.Error(err)
	}
	v := r.Value.Without("columns").Without("rows").Without("bytes").JSON()
	if v != `{"truncated":true,"incomplete":true}` || len(r.Value.JSON()) > 1<<20+200 {
		t.Errorf("got %s, %d bytes", v, len(r.Value.JSON()))
	}
}

func TestCancel(t *testing.T) {
	db := open(t)
	for _, tool := range []string{"query", "execute"} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, err := db.Live.Execute(ctx, domarkx.Call{Tool: tool, Arguments: jsonvalue.MustParse(
			`{"sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"}`)})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if got := db.Query("SELECT 1"); got != "[[1]]" {
		t.Errorf("afterwards: %s", got)
	}
}
