package secrets

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// gitleaksRules are the rules of gitleaks/gitleaks.toml as JSON, because reading that file takes longer
// than scanning what a turn adds to a session. go test -update writes them.
//
//go:embed gitleaks/rules.json
var gitleaksRules []byte

const genericRule = "generic-api-key"

// notSecret lists rules of gitleaks for what identifies an account or is published with a program, and
// rules that ours replace: gitleaks takes every SHA-1 near the word Sourcegraph for a token, and reports only
// the user and the password together.
const notSecret = " adobe-client-id asana-client-id bitbucket-client-id discord-client-id linkedin-client-id lob-pub-api-key mailgun-pub-key" +
	" messagebird-client-id new-relic-user-api-id plaid-client-id sendbird-access-id sumologic-access-id sourcegraph-access-token" +
	" curl-auth-header curl-auth-user private-key hashicorp-tf-password kubernetes-secret-yaml vault-service-token square-access-token "

// A ruleSet is compiled rules.
type ruleSet struct {
	rules    []*rule
	allow    []*allowlist
	paths    func() []*regexp.Regexp // files of no interest for rules that look at names
	keywords *automaton
	of       [][]int32 // by keyword: the rules that have it
	scratch  sync.Pool
}

// A document is a file of rules as gitleaks reads it. Members of JSON have the same names.
type document struct {
	Title       string
	Description string
	MinVersion  string `toml:"minVersion"`
	Extend      any    `toml:"extend"`

	AllowList  *allowlist   `toml:"allowlist"`
	AllowLists []*allowlist `toml:"allowlists"`
	Rules      []ruleText   `toml:"rules"`
}

type ruleText struct {
	ID          string   `toml:"id"`
	Description string   `toml:"description"`
	Regex       string   `toml:"regex"`
	Path        string   `toml:"path"`
	SecretGroup int      `toml:"secretGroup"`
	Entropy     float64  `toml:"entropy"`
	Keywords    []string `toml:"keywords"`
	Tags        []string `toml:"tags"`

	AllowList  *allowlist   `toml:"allowlist"`
	AllowLists []*allowlist `toml:"allowlists"`
	Required   any          `toml:"required"`
	SkipReport bool         `toml:"skipReport"`
}

func (t ruleText) rule() *rule {
	r := &rule{id: t.ID, pattern: t.Regex, group: t.SecretGroup, entropy: t.Entropy, allow: t.AllowLists}
	for _, k := range t.Keywords {
		r.keywords = append(r.keywords, strings.ToLower(k))
	}
	if t.AllowList != nil {
		r.allow = append(r.allow, t.AllowList)
	}
	return r
}

func compile(extra *Rules) *ruleSet {
	var d document
	if err := json.Unmarshal(gitleaksRules, &d); err != nil {
		panic(fmt.Sprintf("the embedded rules of gitleaks: %v", err)) // a test decodes them
	}
	set := &ruleSet{}
	for _, t := range d.Rules {
		if t.Regex != "" && t.Path == "" && !strings.Contains(notSecret, " "+t.ID+" ") {
			set.add(t.rule())
		}
	}
	for _, r := range ownRules() {
		set.add(r)
	}
	set.allow = append(set.allow, d.AllowList)
	set.paths = sync.OnceValue(func() []*regexp.Regexp {
		var paths []*regexp.Regexp
		for _, p := range d.AllowList.Paths {
			paths = append(paths, regexp.MustCompile(p))
		}
		return paths
	})
	if extra != nil {
		for _, t := range extra.rules {
			r := t.rule()
			r.added = true
			set.add(r)
		}
		for i := range extra.allow {
			set.allow = append(set.allow, extra.allow[i])
		}
	}
	set.link()
	return set
}

func (s *ruleSet) add(r *rule) {
	r.prepare()
	s.rules = append(s.rules, r)
}

// link builds the automaton of all keywords.
func (s *ruleSet) link() {
	index := map[string]int{}
	var words []string
	for i, r := range s.rules {
		for _, k := range r.keywords {
			at, ok := index[k]
			if !ok {
				at = len(words)
				index[k] = at
				words = append(words, k)
				s.of = append(s.of, nil)
			}
			if !slices.Contains(s.of[at], int32(i)) {
				s.of[at] = append(s.of[at], int32(i))
			}
		}
	}
	s.keywords = newAutomaton(words)
	s.scratch.New = func() any { return &scratch{windows: make([][]window, len(s.rules))} }
}
