package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/sqlite"
	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestVersions(t *testing.T) {
	dir := t.TempDir()
	db := databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: dir})
	m := plugintest.NewMemory()
	empty := db.Commit(m)
	if db.Changed() {
		t.Error("changed after a commit")
	}
	db.Execute(`CREATE TABLE a (id INTEGER PRIMARY KEY, v, d GENERATED ALWAYS AS (v || '!'));
INSERT INTO a (v) VALUES ('one'), (2), (x'00'), (NULL);
CREATE TABLE "../x
y" (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO "../x
y" VALUES ('b', 1), ('a', 2);
CREATE VIRTUAL TABLE f USING fts5(x);
CREATE VIEW b AS SELECT * FROM a`)
	if !db.Changed() {
		t.Error("not changed by statements")
	}
	full := db.Commit(m)
	bytesBefore := read(t, filepath.Join(dir, "database.sqlite"))
	files := databasetest.Files(t, m, full)
	want := map[string]string{
		"database.json":             "{\n  \"format\": 1\n}\n",
		"tables/a.jsonl":            "{\"id\":1,\"v\":\"one\"}\n{\"id\":2,\"v\":2}\n{\"id\":3,\"v\":{\"base64\":\"AA==\"}}\n{\"id\":4,\"v\":null}\n",
		"tables/%2E.%2Fx%0Ay.jsonl": "{\"k\":\"a\",\"v\":2}\n{\"k\":\"b\",\"v\":1}\n",
		"database.sqlite":           string(bytesBefore),
		"tables/f_config.jsonl":     "{\"k\":\"version\",\"v\":4}\n",
		"tables/f_data.jsonl":       files["tables/f_data.jsonl"],
		"tables/f_idx.jsonl":        "",
		"tables/f_content.jsonl":    "",
		"tables/f_docsize.jsonl":    "",
		"schema.sql":                files["schema.sql"],
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("the version (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(files["schema.sql"], "CREATE TABLE \"../x\ny\"") || !strings.HasSuffix(files["schema.sql"], "CREATE VIEW b AS SELECT * FROM a;\n") {
		t.Errorf("schema:\n%s", files["schema.sql"])
	}
	db.Load(m, empty)
	if got := db.Query("SELECT count(*) FROM sqlite_schema"); got != "[[0]]" || db.Changed() {
		t.Errorf("loaded the empty one: %s", got)
	}
	db.Load(m, full)
	if !bytes.Equal(read(t, filepath.Join(dir, "database.sqlite")), bytesBefore) || db.Changed() {
		t.Error("not the same bytes")
	}
	if again := db.Commit(m); again != full {
		t.Error("another version of the same")
	}
	m.Forget()
	if again := db.Commit(m); again != full {
		t.Error("another version after a prune")
	}
	// Load it as another resource.
	other := databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: t.TempDir()})
	other.Load(m, full)
	if again := other.Commit(m); again != full {
		t.Error("another version elsewhere")
	}
	if m.Open() != 0 {
		t.Errorf("%d contents are open", m.Open())
	}
	if err := db.Live.TearDown(context.Background()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestChangeOfLargeDatabase checks that a small change of a large database stores little, and that
// a note replaces the rows of a large table.
func TestChangeOfLargeDatabase(t *testing.T) {
	db := open(t)
	m := plugintest.NewMemory()
	db.Execute(`CREATE TABLE small (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE large (id INTEGER PRIMARY KEY, v TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO small SELECT i, hex(i * 7919) FROM n;
INSERT INTO large SELECT id, printf('%0400d', id) FROM small`)
	first := databasetest.Files(t, m, db.Commit(m))
	if !strings.Contains(first["tables/large.txt"], "too many rows") {
		t.Errorf("large: %q", first["tables/large.txt"])
	}
	db.Execute(`UPDATE small SET v = 'x' WHERE id IN (5, 10000); INSERT INTO small (v) VALUES ('last'); DELETE FROM small WHERE id = 15000; UPDATE large SET v = '' WHERE id = 9`)
	second := databasetest.Files(t, m, db.Commit(m))
	contents := map[string]bool{}
	for _, text := range first {
		contents[text] = true
	}
	var rows int
	all := ""
	for _, path := range slices.Sorted(maps.Keys(second)) {
		if !strings.HasPrefix(path, "tables/small.rows/") {
			continue
		}
		all += second[path]
		if !contents[second[path]] {
			rows += len(second[path])
		}
	}
	if n := strings.Count(all, "\n"); n != 20000 {
		t.Errorf("%d rows are shown", n)
	}
	if rows == 0 || rows > 100<<10 {
		t.Errorf("five changes cost %d bytes of rows", rows)
	}
	if n := m.Parts(); n != 2 {
		t.Errorf("%d files were given in parts, expected the database of both versions", n)
	}
}

// TestLogOfAnotherProgram commits a database that another program has open with a write-ahead log.
func TestLogOfAnotherProgram(t *testing.T) {
	top := t.TempDir()
	path := filepath.Join(top, "data", "app.db")
	config := jsonvalue.MustParse(`{"path": "data/app.db"}`)
	db := databasetest.Open(t, sqlite.NewImpatient(200*time.Millisecond), domarkx.Env{Dir: t.TempDir(), WorkTree: top, Config: config})
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	run := func(sql string) {
		t.Helper()
		if _, err := other.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
	run("CREATE TABLE t (v); INSERT INTO t VALUES (1)")
	if !db.Changed() {
		t.Error("not changed by the other program")
	}
	m := plugintest.NewMemory()
	one := db.Commit(m)
	if db.Changed() {
		t.Error("changed by the commit")
	}
	run("INSERT INTO t VALUES (2)")
	if !db.Changed() {
		t.Error("not changed in the log")
	}
	two := db.Commit(m)
	if got := databasetest.Files(t, m, two)["tables/t.jsonl"]; got != "{\"v\":1}\n{\"v\":2}\n" {
		t.Errorf("rows: %s", got)
	}
	run("BEGIN IMMEDIATE")
	w, err := m.Begin(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Live.Commit(context.Background(), w); err == nil {
		t.Error("committed while another program was writing")
	}
	if err := db.Live.Load(context.Background(), m, one); err == nil {
		t.Error("loaded while another program was writing")
	}
	run("ROLLBACK")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	db.Load(m, one)
	if got := db.Query("SELECT * FROM t"); got != "[[1]]" {
		t.Errorf("t: %s", got)
	}
	if again := db.Commit(m); again != one {
		t.Error("another version of the same")
	}
	if err := db.Live.TearDown(context.Background()); err != nil {
		t.Error(err)
	}
	if len(read(t, path)) == 0 {
		t.Error("the work tree's database is gone")
	}
}

func TestPath(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{".git", "mnt", "directory"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	for name, target := range map[string]string{"out": outside, "git": ".git", "file": filepath.Join(outside, "x")} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"../x", "/x", ".", ".git/x", "mnt/x", "out/x", "out/new/x", "git/x", "git/new/x", "file", "directory", "new/../../x"} {
		config := jsonvalue.ObjectValue(jsonvalue.Member{Name: "path", Value: jsonvalue.StringValue(path)})
		live, err := sqlite.New().Open(context.Background(), domarkx.Env{Dir: t.TempDir(), WorkTree: top, Forbidden: []string{filepath.Join(top, "mnt")}, Config: config})
		if err == nil {
			t.Errorf("%q was opened: %v", path, live)
		}
	}
	config := jsonvalue.MustParse(`{"path": "x"}`)
	if _, err := sqlite.New().Open(context.Background(), domarkx.Env{Dir: t.TempDir(), Config: config}); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("in a bare repository: %v", err)
	}
	private := databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: t.TempDir(), WorkTree: top, Private: true, Config: config})
	private.Execute("CREATE TABLE t (v)")
	if _, err := os.Lstat(filepath.Join(top, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a private one is at the path: %v", err)
	}
}

// TestBrokenDatabase checks that damaged databases and other files are committed as they are.
func TestBrokenDatabase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "database.sqlite")
	db := databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: dir})
	db.Execute("CREATE TABLE t (v); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT hex(i) FROM n")
	whole := read(t, path)
	m := plugintest.NewMemory()
	broken := bytes.Clone(whole)
	for i := 4096; i < 8192; i++ {
		broken[i] = 0xaa
	}
	for name, data := range map[string][]byte{"none": bytes.Repeat([]byte("no database\n"), 1000), "broken": broken, "short": whole[:5000]} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			version := db.Commit(m)
			if err := os.WriteFile(path, []byte("something else that is no database at all"), 0o644); err != nil {
				t.Fatal(err)
			}
			db.Load(m, version)
			if !bytes.Equal(read(t, path), data) {
				t.Error("not the same bytes")
			}
		})
	}
}

// TestStrangeVersions loads versions that this program did not write.
func TestStrangeVersions(t *testing.T) {
	db := open(t)
	db.Execute("CREATE TABLE t (v)")
	ctx := context.Background()
	for name, files := range map[string][][2]string{
		"empty":       {},
		"format":      {{"database.json", `{"format": 2}`}, {"database.sqlite", ""}},
		"no JSON":     {{"database.json", `{`}, {"database.sqlite", ""}},
		"missing":     {{"database.json", `{"format": 1}`}},
		"a directory": {{"database.json", `{"format": 1}`}, {"database.sqlite/x", "abc"}},
		"journal":     {{"database.json", `{"format": 1}`}, {"database.sqlite", ""}, {"database.sqlite-journal", "x"}},
		"log":         {{"database.json", `{"format": 1}`}, {"database.sqlite", ""}, {"database.sqlite-wal", "x"}},
		"long":        {{"database.json", `{"format": 1}` + strings.Repeat(" ", 2000)}, {"database.sqlite", "abc"}},
	} {
		m := plugintest.NewMemory()
		w, _ := m.Begin(ctx, "")
		if err := w.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		made := map[string]bool{}
		for _, f := range files {
			for i, c := range f[0] {
				if c == '/' && !made[f[0][:i]] {
					made[f[0][:i]] = true
					if err := w.Add(ctx, f[0][:i], domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
						t.Fatal(err)
					}
				}
			}
			id, size, _ := w.Content(ctx, strings.NewReader(f[1]))
			if err := w.Add(ctx, f[0], domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size}); err != nil {
				t.Fatal(err)
			}
		}
		version, err := w.Finish(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Live.Load(ctx, m, version); !errors.Is(err, domarkx.ErrCorrupt) && !errors.Is(err, domarkx.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
		if got := db.Query("SELECT name FROM sqlite_schema"); got != `[["t"]]` {
			t.Errorf("%s: the database afterwards: %s", name, got)
		}
	}
}
