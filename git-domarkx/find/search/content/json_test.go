package content_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/git-domarkx/find/search/content"
)

// TestCallValues checks that the strings and numbers of JSON are found, as encoding/json reads them.
func TestCallValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, value, number := rapid.String().Draw(t, "key"), rapid.String().Draw(t, "value"), rapid.Int().Draw(t, "number")
		data, err := json.Marshal(map[string]any{key: []any{value, number, map[string]any{"in": value}}})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string][]any
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		want := back[strings.ToValidUTF8(key, "\ufffd")][0].(string)
		values := content.CallValues(string(data))
		if len(values) != 3 || values[0] != want || values[2] != want || !json.Valid([]byte(values[1])) {
			t.Fatalf("%s has the values %q", data, values)
		}
	})
}

// FuzzCallValues checks that any text is scanned.
func FuzzCallValues(f *testing.F) {
	for _, s := range []string{`{"a": "b\u00e9\ud83d\ude00"}`, `"`, `"\`, `"\u12`, `{"a":1}}}`, `-`, `"\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { content.CallValues(s) })
}
