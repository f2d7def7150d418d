package sqlite_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/sqlite"
)

func TestConformance(t *testing.T) {
	for name, config := range map[string]string{"private": `{}`, "in place": `{"path": "data/app.db"}`} {
		t.Run(name, func(t *testing.T) {
			call := func(tool, arguments string) domarkx.Call {
				return domarkx.Call{Tool: tool, Arguments: jsonvalue.MustParse(arguments)}
			}
			plugintest.Run(t, plugintest.Suite{
				Plugin:   sqlite.New(),
				ReadOnly: []string{"query", "schema"}, Dump: true,
				Config: jsonvalue.MustParse(config),
				Changes: []domarkx.Call{
					call("execute", `{"sql": "CREATE TABLE t (id INTEGER PRIMARY KEY, v)"}`),
					call("execute", `{"sql": "INSERT INTO t (v) VALUES (?), (2)", "args": ["one"]}`),
					call("execute", `{"sql": "PRAGMA journal_mode = WAL"}`),
					call("execute", `{"sql": "UPDATE t SET v = 3; DROP TABLE t"}`),
				},
				Read: call("query", `{"sql": "SELECT name FROM sqlite_schema"}`),
				Refused: map[string]domarkx.Call{
					domarkx.CodeFailed:  call("query", `{"sql": "SELECT * FROM nothing"}`),
					domarkx.CodeRefused: call("execute", `{"sql": "ATTACH 'other' AS x"}`),
					domarkx.CodeInvalid: call("query", `{"sql": "SELECT 1; SELECT 2"}`),
				},
				Invalid: []jsonvalue.Value{
					jsonvalue.MustParse(`{"path": ""}`), jsonvalue.MustParse(`{"path": 1}`), jsonvalue.MustParse(`{"dsn": "x"}`),
				},
			})
		})
	}
}
