package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
)

// doubling returns a schema that applies another one twice, n times over.
func doubling(keyword string, n int) string {
	var defs strings.Builder
	for i := range n {
		fmt.Fprintf(&defs, `"d%d": {%q: [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}, `, i, keyword, i+1, i+1)
	}
	fmt.Fprintf(&defs, `"d%d": {"enum": [%s"x"]}`, n, strings.Repeat(`"a long text that nobody sends", `, 300))
	return `{"$ref": "#/$defs/d0", "$defs": {` + defs.String() + `}}`
}

// TestForeign checks documents with schemas of somebody who is not trusted.
func TestForeign(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, doc, want string }{
		{"fits", `{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}`, `{"a": "x"}`, ""},
		{"does not fit", `{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}`, `{"a": 1}`, "is 1, expected a string"},
		{"draft 7", `{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"type": "string"}}, "properties": {"a": {"$ref": "#/definitions/a"}}}`, `{"a": 1}`, "is 1, expected a string"},
		{"draft 4", `{"properties": {"a": {"minimum": 0, "exclusiveMinimum": true}}}`, `{"a": 1}`, ""},
		{"no schema", `{"type": 5}`, `{"a": 1}`, ""},
		{"an unknown pattern", `{"properties": {"a": {"pattern": "(?=x)y"}, "b": {"pattern": "^x"}}}`, `{"a": "z", "b": "y"}`, "pattern ^x matches"},
		{"another document", `{"properties": {"a": {"$ref": "https://example.org/schema"}}}`, `{"a": 1}`, ""},
		{"items after a prefix", `{"properties": {"a": {"prefixItems": [{"type": "string"}], "items": {"type": "number"}}}}`, `{"a": ["x", 1]}`, ""},
		{"itself", `{"$ref": "#"}`, `{}`, ""},
		{"itself in allOf", `{"allOf": [{"$ref": "#"}]}`, `{}`, ""},
		{"itself in a definition", `{"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}`, `{}`, "refers to itself without end"},
		{"not itself", `{"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}`, `{}`, "forbids by not"},
		{"itself by a dynamic reference", `{"$dynamicRef": "#"}`, `{}`, ""},
		{"doubling allOf", doubling("allOf", 60), `{}`, "takes too much work"},
		{"doubling anyOf", doubling("anyOf", 60), `{}`, "takes too much work"},
		{"doubling oneOf", doubling("oneOf", 60), `{}`, "takes too much work"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, err := jsonvalue.ParseValue([]byte(c.doc))
			if err != nil {
				t.Fatal(err)
			}
			found := schema.CompileForeign(c.schema).Check(v, nil)
			if c.want == "" && len(found) > 0 || c.want != "" && (len(found) == 0 || !strings.Contains(found[0].Msg, c.want)) {
				t.Errorf("%v, expected %q", found, c.want)
			}
		})
	}
}

func FuzzForeign(f *testing.F) {
	f.Add(doubling("allOf", 5), `{"a": 1}`)
	f.Add(text, `{"kind": "a"}`)
	f.Fuzz(func(t *testing.T, text, doc string) {
		if v, err := jsonvalue.ParseValue([]byte(doc)); err == nil {
			schema.CompileForeign(text).Check(v, nil)
		}
	})
}
