package secrets_test

import (
	"encoding/json"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/domarkx/domarkx/format/formattest"
)

// TestBuiltIn: the rules that the program reads at its start are those of gitleaks, in a form that is
// read ten times faster.
func TestBuiltIn(t *testing.T) {
	type allowlist struct {
		Regexes     []string `toml:"regexes" json:"regexes,omitempty"`
		RegexTarget string   `toml:"regexTarget" json:"regexTarget,omitempty"`
		StopWords   []string `toml:"stopwords" json:"stopwords,omitempty"`
		Paths       []string `toml:"paths" json:"paths,omitempty"`
		Commits     []string `toml:"commits" json:"commits,omitempty"`
		Condition   string   `toml:"condition" json:"condition,omitempty"`
	}
	type rule struct {
		ID          string      `toml:"id" json:"id"`
		Regex       string      `toml:"regex" json:"regex,omitempty"`
		Path        string      `toml:"path" json:"path,omitempty"`
		SecretGroup int         `toml:"secretGroup" json:"secretGroup,omitempty"`
		Entropy     float64     `toml:"entropy" json:"entropy,omitempty"`
		Keywords    []string    `toml:"keywords" json:"keywords,omitempty"`
		AllowList   *allowlist  `toml:"allowlist" json:"allowlist,omitempty"`
		AllowLists  []allowlist `toml:"allowlists" json:"allowlists,omitempty"`
	}
	var rules struct {
		AllowList  *allowlist  `toml:"allowlist" json:"allowlist,omitempty"`
		AllowLists []allowlist `toml:"allowlists" json:"allowlists,omitempty"`
		Rules      []rule      `toml:"rules" json:"rules"`
	}
	if _, err := toml.Decode(formattest.Read(t, "gitleaks/gitleaks.toml"), &rules); err != nil {
		t.Fatal(err)
	}
	if len(rules.AllowLists) > 0 || rules.AllowList == nil || len(rules.Rules) < 200 {
		t.Errorf("%d rules, and %d allowlists beside the one that is read", len(rules.Rules), len(rules.AllowLists))
	}
	out, err := json.MarshalIndent(rules, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	formattest.Golden(t, "gitleaks/rules.json", string(out)+"\n")
}
