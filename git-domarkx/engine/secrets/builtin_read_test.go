package secrets

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestReadRules: the rules are read as package encoding/json reads them.
func TestReadRules(t *testing.T) {
	const more = `{"allowlist":{"commits":["c"],"condition":"AND"},"rules":[{"id":"i","regex":"r","path":"p","secretGroup":2,"entropy":3.5,"keywords":["k"],` +
		`"allowlist":{"regexes":["a"],"regexTarget":"line"},"allowlists":[{"stopwords":["s"],"paths":["q"]}]}]}`
	for _, data := range []string{string(gitleaksRules), more} {
		var want document
		if err := json.Unmarshal([]byte(data), &want); err != nil {
			t.Fatal(err)
		}
		got, err := readRules([]byte(data))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, or read differently: %.500s", err, data)
		}
	}
	for _, data := range []string{"", `{"rules":[{"entropy":"x"}]}`, `{"rules":[{"secretGroup":1.5}]}`} {
		if _, err := readRules([]byte(data)); err == nil {
			t.Errorf("%q was read", data)
		}
	}
}
