package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/postgres"
)

// TestMain also runs the test binary as a process that the tests kill.
func TestMain(m *testing.M) {
	postgres.DoNotSync()
	if dir := os.Getenv("POSTGRES_HOLD"); dir != "" {
		hold(dir)
	}
	code := m.Run()
	if err := errors.Join(shared.remove(), common.remove()); err != nil {
		fmt.Fprintln(os.Stderr, "remove the servers that tests copy and share:", err)
		code = 1
	}
	os.Exit(code)
}

// hold runs statements in the resource in dir until it is killed.
func hold(dir string) {
	ctx := context.Background()
	live, err := postgres.New().Open(ctx, domarkx.Env{Dir: dir, Config: domarkx.ObjectValue(), Warn: func(string) {}})
	run := func(sql string) {
		if err == nil {
			_, err = live.Execute(ctx, domarkx.Call{Tool: "execute", Arguments: domarkx.ObjectValue(domarkx.Member{Name: "sql", Value: domarkx.StringValue(sql)})})
		}
	}
	run("CREATE TABLE IF NOT EXISTS t (v int)")
	run("INSERT INTO t VALUES (1)")
	fmt.Println("working", err)
	run("INSERT INTO t VALUES (2); SELECT pg_sleep(1000)")
	fmt.Fprintln(os.Stderr, "not killed:", err)
	os.Exit(1)
}
