//go:build linux

package postgres_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/postgres"
)

// TestLeftovers removes the directory of a resource whose server runs for root, with files elsewhere.
func TestLeftovers(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "w", "1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	live, err := planted{}.Open(t.Context(), domarkx.Env{Dir: dir, Config: jsonvalue.ObjectValue(), Warn: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	sql := jsonvalue.Member{Name: "sql", Value: jsonvalue.StringValue("CREATE TABLE t (v int)")}
	_, err = live.Execute(t.Context(), domarkx.Call{Tool: "execute", Arguments: jsonvalue.ObjectValue(sql)})
	if cerr := live.Close(t.Context()); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	expect := func(want int, what string) []plugins.Leftover {
		t.Helper()
		found, err := postgres.New().Leftovers(t.Context(), root)
		if err != nil || len(found) != want {
			t.Fatalf("%s: %+v, %v, want %d", what, found, err, want)
		}
		return found
	}
	expect(0, "while the resource is there")
	if err := os.Rename(filepath.Join(root, "w"), filepath.Join(root, "renamed")); err != nil {
		t.Fatal(err)
	}
	expect(0, "once the workspace has another name")
	if err := os.RemoveAll(filepath.Join(root, "renamed")); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 { // the server's files were in the directory
		expect(0, "once the resource is gone")
		return
	}
	o := expect(1, "once the resource is gone")[0]
	if err := postgres.New().RemoveLeftover(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(o.ID); err == nil || o.Dir != dir {
		t.Errorf("%+v still exists", o)
	}
	expect(0, "after removing it")
	if err := postgres.New().RemoveLeftover(t.Context(), plugins.Leftover{ID: root}); err == nil {
		t.Error("what is no server was removed")
	}
}
