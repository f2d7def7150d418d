//go:build linux

package postgres_test

import (
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/postgres"
)

func TestConformance(t *testing.T) {
	call := func(tool, arguments string) domarkx.Call {
		return domarkx.Call{Tool: tool, Arguments: databasetest.Object(t, arguments)}
	}
	plugintest.Run(t, plugintest.Suite{
		Plugin: postgres.New(),
		Config: domarkx.ObjectValue(),
		Changes: []domarkx.Call{
			call("execute", `{"sql": "CREATE TABLE t (id int PRIMARY KEY, v text)"}`),
			call("execute", `{"sql": "INSERT INTO t VALUES (1, $1), (2, 'two')", "args": ["one"]}`),
			call("execute", `{"sql": "CREATE SEQUENCE s; DROP TABLE t"}`),
			call("execute", `{"sql": "SELECT nextval('s')"}`),
		},
		Read: call("query", `{"sql": "SELECT relname FROM pg_class"}`),
		Refused: map[string]domarkx.Call{
			domarkx.CodeFailed:  call("query", `{"sql": "SELECT * FROM nothing"}`),
			domarkx.CodeRefused: call("query", `{"sql": "CREATE TABLE x (y int)"}`),
			domarkx.CodeInvalid: call("query", `{"sql": "SELECT $1", "args": {"a": 1}}`),
		},
		Invalid: []domarkx.Value{
			databasetest.Object(t, `{"dsn": ""}`), databasetest.Object(t, `{"dsn": 1}`), databasetest.Object(t, `{"path": "x"}`),
		},
		Alive: func(dir string) bool { return len(servers(t, dir)) > 0 },
	})
}
