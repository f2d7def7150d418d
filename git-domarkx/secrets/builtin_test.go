package secrets_test

import (
	"reflect"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// TestBuiltIn checks that the rules of gitleaks are read as a parser of TOML reads them.
func TestBuiltIn(t *testing.T) {
	var want secrets.Document
	if _, err := toml.Decode(formattest.Read(t, "gitleaks/gitleaks.toml"), &want); err != nil {
		t.Fatal(err)
	}
	if len(want.AllowLists) > 0 || want.AllowList == nil || len(want.Rules) < 200 {
		t.Errorf("%d rules, and %d allowlists beside the one that is read", len(want.Rules), len(want.AllowLists))
	}
	got := secrets.BuiltIn()
	if !reflect.DeepEqual(got.AllowList, want.AllowList) {
		t.Errorf("the allowlist is %v, want %v", got.AllowList, want.AllowList)
	}
	for i, r := range want.Rules {
		if i >= len(got.Rules) || !reflect.DeepEqual(got.Rules[i], r) {
			t.Fatalf("rule %d is not %v", i, r)
		}
	}
}
