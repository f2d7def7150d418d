package all_test

import (
	"slices"
	"testing"

	"github.com/domarkx/domarkx/plugins/all"
)

// TestWhatTypesSayOfThemselves pins which calls a user can approve at once, and which versions no redaction edits.
func TestWhatTypesSayOfThemselves(t *testing.T) {
	files := []string{"read_file", "list_dir", "search"}
	readOnly := map[string][]string{"filesystem": files, "local_shell": files, "openpocket": files, "git_repository": files,
		"sqlite": {"query", "schema"}, "postgres": {"query", "schema"}}
	dumps := []string{"postgres", "sqlite"}
	for _, p := range all.BuiltIn() {
		d, err := p.Describe(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", p.Type(), err)
		}
		var got []string
		for _, tool := range d.Tools {
			if tool.ReadOnly {
				got = append(got, tool.Name)
			}
		}
		if !slices.Equal(got, readOnly[p.Type()]) {
			t.Errorf("%s: read-only tools are %q, want %q", p.Type(), got, readOnly[p.Type()])
		}
		if want := slices.Contains(dumps, p.Type()); d.Dump != want {
			t.Errorf("%s: dump is %t, want %t", p.Type(), d.Dump, want)
		}
	}
}
