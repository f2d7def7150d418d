package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/plugins/postgres"
)

// TestMain also runs the test binary as a process that the tests kill.
func TestMain(m *testing.M) {
	postgres.DoNotSync()
	if dir := os.Getenv("POSTGRES_HOLD"); dir != "" {
		hold(dir)
	}
	os.Exit(shorttest.Main(tests{m, os.Getenv("TMPDIR")}))
}

// tests run, and then remove their servers.
type tests struct {
	*testing.M
	given string // TMPDIR before
}

func (t tests) Run() int {
	if os.Getenv("TMPDIR") != t.given { // it is in memory, and the user that runs servers can enter it
		postgres.PlaceServers(filepath.Join(os.TempDir(), "servers"))
	}
	code := t.M.Run()
	if err := errors.Join(shared.remove(), common.remove()); err != nil {
		fmt.Fprintln(os.Stderr, "remove the servers that tests copy and share:", err)
		code = 1
	}
	return code
}

// hold runs statements in the resource in dir until it is killed.
func hold(dir string) {
	ctx := context.Background()
	live, err := postgres.New().Open(ctx, domarkx.Env{Dir: dir, Config: jsonvalue.ObjectValue(), Warn: func(string) {}})
	run := func(sql string) {
		if err == nil {
			_, err = live.Execute(ctx, domarkx.Call{Tool: "execute", Arguments: jsonvalue.ObjectValue(jsonvalue.Member{Name: "sql", Value: jsonvalue.StringValue(sql)})})
		}
	}
	run("CREATE TABLE IF NOT EXISTS t (v int)")
	run("INSERT INTO t VALUES (1)")
	fmt.Println("working", err)
	run("INSERT INTO t VALUES (2); SELECT pg_sleep(1000)")
	fmt.Fprintln(os.Stderr, "not killed:", err)
	os.Exit(1)
}
