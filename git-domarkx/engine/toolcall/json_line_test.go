package toolcall_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

func TestJSONLine(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                              `{}`,
		`[]`:                              `[]`,
		`null`:                            `null`,
		`{"b":1,"a":[true,null,"x"]}`:     `{"b": 1, "a": [true, null, "x"]}`,
		"{\n \"a\" : {\"b\": [[],{}]}\n}": `{"a": {"b": [[], {}]}}`,
		`1.50e+3`:                         `1.50e+3`,
		`"a, b: c"`:                       `"a, b: c"`,
	} {
		v, err := jsonvalue.ParseValue([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := toolcall.JSONLine(v); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func FuzzJSONLine(f *testing.F) {
	f.Add(`{"a": ["\u2028\ud800", 1e400, {"": null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsonvalue.ParseValue([]byte(text))
		if err != nil {
			return
		}
		line := toolcall.JSONLine(v)
		again, err := jsonvalue.ParseValue([]byte(line))
		if err != nil || again.JSON() != v.JSON() || strings.Contains(line, "\n") {
			t.Errorf("%q became %q: %v", text, line, err)
		}
	})
}
