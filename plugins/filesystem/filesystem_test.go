package filesystem_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/filesystem"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func parse(t *testing.T, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestConformance(t *testing.T) {
	call := func(tool, arguments string) domarkx.Call {
		return domarkx.Call{Tool: tool, Arguments: parse(t, arguments)}
	}
	suite := plugintest.Suite{
		Plugin:   filesystem.New(),
		ReadOnly: []string{"read_file", "list_dir", "search"},
		Config:   parse(t, `{}`),
		Changes: []domarkx.Call{
			call("write_file", `{"path": "a/b.txt", "content": "one\ntwo\n"}`),
			call("edit_file", `{"path": "a/b.txt", "old_text": "two", "new_text": "three"}`),
			call("move", `{"from": "a", "to": "c/d"}`),
			call("write_file", `{"path": "c/empty", "content": ""}`),
			call("delete", `{"path": "c/d"}`),
		},
		Read: call("list_dir", `{"path": "."}`),
		Refused: map[string]domarkx.Call{
			domarkx.CodeNotFound: call("read_file", `{"path": "none"}`),
			domarkx.CodeRefused:  call("read_file", `{"path": "../../etc/passwd"}`),
			domarkx.CodeInvalid:  call("read_file", `{"path": "."}`),
		},
		Invalid: []jsonvalue.Value{parse(t, `{"path": 1}`), parse(t, `{"exclude": "x"}`), parse(t, `{"path": ""}`)},
	}
	plugintest.Run(t, suite)
	t.Run("path", func(t *testing.T) {
		suite.Config = parse(t, `{"path": "data", "exclude": ["*.log"]}`)
		plugintest.Run(t, suite)
	})
}
