package jsonvalue_test

import (
	"encoding/json"
	"testing"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

func FuzzParseValue(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, -0.5e+3, true, null, "\ud83d\u0041\n"], "a": {}}`, `[[[[]]]]`, `"\u0000` + "\xff\"", ` 01`, `{"a":1,}`, `{"p":{"a":["\n"]},"s":"\u00e9"}`, `"\ud800\udc00"`, "\ufeff1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkOutline(t, data)
		v, err := jsonvalue.ParseValue(data)
		if ours, theirs := err == nil, json.Valid(data); ours != theirs && v.Depth() < jsonvalue.MaxDepth && !tooDeep(data) {
			t.Fatalf("valid: %t, but to encoding/json %t", ours, theirs)
		}
		if err != nil {
			return
		}
		for _, text := range [][]byte{[]byte(v.JSON()), v.AppendJSON(nil, " ", "\t")} {
			again, err := jsonvalue.ParseValue(text)
			if err != nil || !again.Equal(v) {
				t.Fatalf("%q was written as %q, which reads as %q, %v", data, text, again.JSON(), err)
			}
		}
	})
}

// tooDeep reports whether data may be nested deeper than is read.
func tooDeep(data []byte) bool {
	n := 0
	for _, c := range data {
		if c == '[' || c == '{' {
			n++
		}
	}
	return n > jsonvalue.MaxDepth
}
