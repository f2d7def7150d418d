package jsonvalue_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

func TestParsePartial(t *testing.T) {
	for _, test := range []struct{ text, want, problem string }{
		{`{"a": [1, 2]}`, `{"a":[1,2]}`, ""},
		{`{"a": [1, 2]} x`, `{"a":[1,2]}`, "1:15: unexpected 'x' after the JSON value, expected the end"},
		{`{"a": [1, 2`, `{"a":[1]}`, "1:12: unexpected end of input, expected ',' or ']'"},
		{`{"a": 1, "b": "cut`, `{"a":1}`, "1:19: unexpected end of input in a string, expected '\"'"},
		{`{"a": 1`, `{}`, "1:8: unexpected end of input, expected ',' or '}'"},
		{`{"a": true`, `{"a":true}`, "1:11: unexpected end of input, expected ',' or '}'"},
		{`{"a": {"b": [{"c": "d", `, `{"a":{"b":[{"c":"d"}]}}`, "1:25: unexpected end of input, expected a member name in double quotes"},
		{`[1, x, 2]`, `[1]`, "1:5: unexpected 'x', expected a JSON value"},
		{`"cut`, `null`, "1:5: unexpected end of input in a string, expected '\"'"},
		{``, `null`, "1:1: unexpected end of input, expected a JSON value"},
	} {
		v, err := jsonvalue.ParsePartial([]byte(test.text))
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if problem != test.problem || v.JSON() != test.want {
			t.Errorf("%s:\ngot  %s, %s\nwant %s, %s", test.text, v.JSON(), problem, test.want, test.problem)
		}
	}
}
