package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/google/go-cmp/cmp"
)

// TestEncodings checks that text is restored exactly in databases with other encodings.
func TestEncodings(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	_, own := emptied(t)
	su := asSuperuser(t, own)
	m := plugintest.NewMemory()
	versions := map[string]string{}
	const sql = "CREATE TABLE \"tä\" (\"ö\" text PRIMARY KEY DEFAULT 'ü'); INSERT INTO \"tä\" VALUES ('ß'), ('é'), (E'a\\\\\t'); COMMENT ON TABLE \"tä\" IS 'à'; ALTER DATABASE %s SET application_name = 'ñ'; COMMENT ON DATABASE %[1]s IS 'ø'"
	for _, encoding := range []string{"UTF8", "LATIN9", "EUC_JIS_2004", "SQL_ASCII"} {
		name := "d_" + strings.ToLower(encoding)
		su.does("CREATE DATABASE " + name + " OWNER domarkx TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING '" + encoding + "' STRATEGY file_copy")
		t.Cleanup(func() { su.does("DROP DATABASE " + name) })
		db := su.external(name)
		db.Execute(fmt.Sprintf(sql, name))
		full := db.Commit(m)
		versions[encoding] = full
		rows := db.Query(`SELECT * FROM "tä" ORDER BY 1`)
		db.Execute(`DROP TABLE "tä"; ALTER DATABASE ` + name + ` RESET ALL; COMMENT ON DATABASE ` + name + ` IS NULL`)
		db.Load(m, full)
		if got := db.Query(`SELECT * FROM "tä" ORDER BY 1`); got != rows {
			t.Errorf("%s: %s, want %s", encoding, got, rows)
		}
		if again := db.Commit(m); again != full {
			t.Errorf("%s: the version changed after a load:\n%s", encoding, cmp.Diff(databasetest.Files(t, m, full), databasetest.Files(t, m, again)))
		}
	}
	// Bytes that are not valid text in any encoding cannot be stored in a version.
	db := su.external("d_sql_ascii")
	db.Execute(`INSERT INTO "tä" VALUES (decode('fffe', 'hex')::text), (convert_from('\xfffe', 'SQL_ASCII'))`)
	w, err := m.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Live.Commit(t.Context(), w); err == nil || !strings.Contains(err.Error(), `"tä"`) || !strings.Contains(err.Error(), "invalid byte sequence") {
		t.Errorf("committed bytes that are not text: %v", err)
	}
	for _, encoding := range []string{"LATIN9", "EUC_JIS_2004", "SQL_ASCII"} {
		if versions[encoding] != versions["UTF8"] {
			t.Errorf("%s: the version differs from that with UTF8:\n%s", encoding, cmp.Diff(databasetest.Files(t, m, versions["UTF8"]), databasetest.Files(t, m, versions[encoding])))
		}
	}
}
