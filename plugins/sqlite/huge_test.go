//go:build !race

package sqlite_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/sqlite"
)

// TestHugeValue checks that a value too large to be shown is not read either. (The race detector
// would double the allocations.)
func TestHugeValue(t *testing.T) {
	size := 120000000
	if testing.Short() {
		size /= 4
	}
	db := databasetest.Open(t, sqlite.New(), domarkx.Env{Dir: made(t, "CREATE TABLE t (v); CREATE TABLE u (v)", fmt.Sprintf("INSERT INTO t VALUES (zeroblob(%d))", size), "INSERT INTO u VALUES (1)")})
	m := plugintest.NewMemory()
	var from, to runtime.MemStats
	runtime.ReadMemStats(&from)
	version := db.Commit(m)
	runtime.ReadMemStats(&to)
	if n := to.TotalAlloc - from.TotalAlloc; n > uint64(size)*5/2 { // plugintest.Memory stores the file
		t.Errorf("%d bytes were allocated", n)
	}
	files := databasetest.Files(t, m, version)
	if !strings.Contains(files["tables/t.txt"], "too many rows") || files["tables/u.jsonl"] != "{\"v\":1}\n" {
		t.Errorf("%q", files["tables/t.txt"])
	}
}
