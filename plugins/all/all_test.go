package all_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/plugins/all"
)

// TestTypesAreWhole checks what "A new resource type" in CONTRIBUTING promises: each package whose tests run the conformance
// suite is in the list, and a type in the list has such a package of its name and a row in plugins/README.md.
func TestTypesAreWhole(t *testing.T) {
	table, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob("../*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tested, types []string
	for _, path := range tests {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte("plugintest"+".Run(t, ")) {
			tested = append(tested, filepath.Base(filepath.Dir(path)))
		}
	}
	for _, p := range all.BuiltIn() {
		types = append(types, p.Type())
		if !bytes.Contains(table, []byte("\n| `"+p.Type()+"` | ")) {
			t.Errorf("plugins/README.md has no row for %s", p.Type())
		}
	}
	slices.Sort(tested)
	slices.Sort(types)
	if tested = slices.Compact(tested); !slices.Equal(tested, types) {
		t.Errorf("types %q, packages that run the conformance suite %q", types, tested)
	}
}
