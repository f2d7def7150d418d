package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
)

const text = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"required": ["kind"],
	"additionalProperties": false,
	"properties": {
		"kind": {"enum": ["a", "b"]},
		"version": {"const": 1},
		"name": {"type": ["string", "null"], "minLength": 3},
		"count": {"type": "integer", "minimum": 0},
		"at": {"type": "string", "format": "date-time"},
		"when": {"type": "string", "format": "local-date-time"},
		"a/b~c": {"type": "array", "items": {"type": "boolean"}},
		"form": {"type": "object", "oneOf": [{"required": ["x", "y"]}, {"required": ["z"]}]}
	}
}`

func TestCheck(t *testing.T) {
	s, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ doc, want string }{
		{`{"kind": "a", "version": 1.0, "name": null, "count": 3e0, "at": "2025-01-02 03:04:05+01", "form": {"z": 1}}`, ""},
		{`{"kind": 1, "kind": "a"}`, ""},
		{`{"kind": "a", "count": 1e999999999}`, ""},
		{`[]`, `1:1: is an array, expected an object`},
		{`{}`, `1:1: required member "kind" is missing`},
		{"{\n \"kind\": \"c\"}", `2:10: /kind: is "c", expected one of "a", "b"`},
		{`{"kind": "a", "version": "1"}`, `1:26: /version: is "1", expected 1`},
		{`{"kind": "a", "name": ""}`, `1:23: /name: is empty, expected some text`},
		{`{"kind": "a", "name": "é"}`, `1:23: /name: is "é", expected at least 3 characters`},
		{`{"kind": "a", "name": {}}`, `1:23: /name: is an object, expected null or a string`},
		{`{"kind": "a", "count": -1e999999999}`, `1:24: /count: is -1e999999999, expected 0 or more`},
		{`{"kind": "a", "count": 1e-999999999}`, `1:24: /count: is 1e-999999999, expected an integer`},
		{`{"kind": "a", "at": "now"}`, `1:21: /at: is "now", expected a date and time with a zone, as in "2006-01-02T15:04:05.000Z"`},
		{`{"kind": "a", "when": "2025-01-02T03:04:05.000001"}`, ""},
		{`{"kind": "a", "when": "2025-01-02T03:04:05Z"}`, ""},
		{`{"kind": "a", "when": "now"}`, `1:23: /when: is "now", expected a date and time, as in "2006-01-02T15:04:05+00:00"`},
		{`{"kind": "a", "a/b~c": [true, 1]}`, `1:31: /a~1b~0c/1: is 1, expected a boolean`},
		{`{"kind": "a", "x": 1, "b": 2}`, "1:20: /x: is a member that is not known here, expected none of that name\n1:28: /b: is a member that is not known here, expected none of that name"},
		{`{"kind": "a", "form": {}}`, `1:23: /form: required member "z" is missing`},
		{`{"kind": "a", "form": 1}`, `1:23: /form: is 1, expected an object`},
		{`{"kind": "a", "form": {"x": 1, "y": 1, "z": 1}}`, `1:23: /form: has the members of two forms, expected those of one`},
	} {
		v, err := jsonvalue.ParseValue([]byte(test.doc))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, report := range s.Check(v, []byte(test.doc)) {
			got = append(got, report.Error())
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.doc, strings.Join(got, "\n"), test.want)
		}
	}
}

func TestCheckIsBounded(t *testing.T) {
	s, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(`{"kind": "a"`)
	for i := range 1000 {
		fmt.Fprintf(&b, `, "x%d": 1`, i)
	}
	doc := b.String() + "}"
	v, err := jsonvalue.ParseValue([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	reports := s.Check(v, []byte(doc))
	if last := reports[len(reports)-1].Msg; len(reports) != 101 || !strings.HasPrefix(last, "from here on 900 more") {
		t.Errorf("%d reports, the last is %q", len(reports), last)
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, bad := range []string{`{`, `{"type": 1}`, `{"$ref": "http://example.org/other.json"}`, `{"$ref": "file:///etc/passwd"}`} {
		if _, err := schema.Compile(bad); err == nil {
			t.Errorf("%s is taken for a schema", bad)
		}
	}
}

// Reports describe limits in plain words, not with JSON Schema keywords.
func TestBounds(t *testing.T) {
	s, err := schema.Compile(`{"properties": {
		"part": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
		"few": {"type": "array", "minItems": 1, "maxItems": 2},
		"word": {"type": "string", "maxLength": 3, "pattern": "^[a-z]*$"},
		"percent": {"type": "integer", "maximum": 100},
		"never": false
	}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ doc, want string }{
		{`{"part": 0.5, "few": [1], "word": "abc", "percent": 100}`, ""},
		{`{"part": 0}`, `/part: is 0, expected more than 0`},
		{`{"part": 1}`, `/part: is 1, expected less than 1`},
		{`{"percent": 101}`, `/percent: is 101, expected 100 or less`},
		{`{"few": []}`, `/few: has 0 items, expected 1 or more`},
		{`{"few": [1, 2, 3]}`, `/few: has 3 items, expected 2 at most`},
		{`{"word": "abcd"}`, `/word: is "abcd", expected at most 3 characters`},
		{`{"word": "A"}`, `/word: is "A", expected what the pattern ^[a-z]*$ matches`},
		{`{"never": 1}`, `/never: is 1, which cannot stand here with the rest`},
	} {
		v, err := jsonvalue.ParseValue([]byte(test.doc))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range s.Check(v, nil) {
			e.Line, e.Column = 0, 0
			got = append(got, e.Error())
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s: %q, expected %q", test.doc, got, test.want)
		}
	}
}
