package sqlite_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/sqlite"
)

// made runs another program that creates the database of a resource, and returns the files that it
// left, as they would be after a kill.
func made(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "database.sqlite")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%.100s: %v", s, err)
		}
	}
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if data, err := os.ReadFile(path + suffix); err == nil {
			if err := os.WriteFile(filepath.Join(dir, "database.sqlite"+suffix), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestUnusualDatabases checks that databases of other programs, in forms that this package does not
// create, are restored byte for byte and can be read.
func TestUnusualDatabases(t *testing.T) {
	for name, tt := range map[string]struct {
		statements []string
		rows       string // of the table t
		exact      bool   // the file is not to be changed by the commit
	}{
		"UTF-16":          {[]string{"PRAGMA encoding = 'UTF-16be'", "PRAGMA user_version = -7; PRAGMA application_id = 305419896", "CREATE TABLE t (v TEXT)", "INSERT INTO t VALUES ('aä€😀')"}, `{"v":"aä€😀"}` + "\n", true},
		"small pages":     {[]string{"PRAGMA page_size = 512; PRAGMA auto_vacuum = incremental", "CREATE TABLE t (v)", "INSERT INTO t VALUES (9223372036854775807), (1e308 * 10), ('')"}, `{"v":"9223372036854775807"}` + "\n" + `{"v":"Infinity"}` + "\n" + `{"v":""}` + "\n", true},
		"without rowid":   {[]string{"CREATE TABLE t (k TEXT COLLATE NOCASE, v INT, PRIMARY KEY (k DESC)) WITHOUT ROWID, STRICT", "INSERT INTO t VALUES ('a', 1), ('B', 2)"}, `{"k":"B","v":2}` + "\n" + `{"k":"a","v":1}` + "\n", true},
		"journal kept":    {[]string{"PRAGMA journal_mode = PERSIST", "CREATE TABLE t (v)", "INSERT INTO t VALUES (1)"}, `{"v":1}` + "\n", true},
		"log":             {[]string{"PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (v)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"}, `{"v":1}` + "\n" + `{"v":2}` + "\n", false},
		"killed":          {[]string{"CREATE TABLE t (v)", "INSERT INTO t VALUES (1)", "PRAGMA cache_size = 1; PRAGMA cache_spill = 1", "BEGIN", "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) INSERT INTO t SELECT hex(zeroblob(99)) FROM n"}, `{"v":1}` + "\n", false},
		"unknown modules": {[]string{"CREATE TABLE t (v)", "INSERT INTO t VALUES (1)", "PRAGMA writable_schema = 1", "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'CREATE VIRTUAL TABLE x USING no_such_module(a)')", "CREATE VIEW broken AS SELECT * FROM gone"}, `{"v":1}` + "\n", true},
		"search":          {[]string{"CREATE VIRTUAL TABLE f USING fts5(x)", "INSERT INTO f VALUES ('some words')", "CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "INSERT INTO r VALUES (1, 2, 3)", "CREATE TABLE t (v)"}, "", true},
		"same names":      {[]string{"CREATE TABLE t (v)", "CREATE TABLE \"T.rows\" (v)", "CREATE TABLE \"t.jsonl\" (v)", "CREATE TABLE \"\" (v)", "INSERT INTO \"\" VALUES (1)"}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := made(t, tt.statements...)
			path := filepath.Join(dir, "database.sqlite")
			before := read(t, path)
			db := databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: dir})
			m := plugintest.NewMemory()
			version := db.Commit(m)
			files := databasetest.Files(t, m, version)
			if got, shown := files["tables/t.jsonl"]; tt.rows != "" && got != tt.rows || !shown {
				t.Errorf("rows %q, want %q", got, tt.rows)
			}
			if tt.exact && files["database.sqlite"] != string(before) {
				t.Error("other bytes than those of the file")
			}
			if files["schema.sql"] == "" {
				t.Error("no schema is shown")
			}
			if got := db.Try("schema", "", ""); !strings.HasPrefix(got, `{"tables"`) {
				t.Errorf("the tool schema: %s", got)
			}
			if name != "journal kept" && db.Changed() {
				t.Error("changed after a commit")
			}
			other := databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: t.TempDir()})
			other.Load(m, version)
			db.Execute("DROP TABLE t")
			db.Load(m, version)
			if !bytes.Equal(read(t, path), []byte(files["database.sqlite"])) {
				t.Error("not restored byte for byte")
			}
			for _, r := range []*databasetest.DB{db, other} {
				if again := r.Commit(m); again != version {
					t.Error("another version of the same")
				}
			}
		})
	}
}

// TestBrokenWithLog checks that a damaged file with a log cannot be committed, because a version
// would lack the log.
func TestBrokenWithLog(t *testing.T) {
	dir := made(t, "CREATE TABLE t (v)", "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0", "INSERT INTO t VALUES (1)", "PRAGMA wal_checkpoint(TRUNCATE)", "UPDATE t SET v = 2")
	path := filepath.Join(dir, "database.sqlite")
	data := read(t, path)
	copy(data, "no database")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	log := read(t, path+"-wal")
	db := databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: dir})
	m := plugintest.NewMemory()
	w, err := m.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Live.Commit(t.Context(), w); err == nil || !strings.Contains(err.Error(), "database.sqlite-wal") {
		t.Errorf("committed without its log: %v", err)
	}
	if got := db.Try("query", "SELECT 1", ""); !strings.Contains(got, "database.sqlite-wal") {
		t.Errorf("queried: %s", got)
	}
	if !bytes.Equal(read(t, path+"-wal"), log) || !bytes.Equal(read(t, path), data) {
		t.Error("other files than before")
	}
}
