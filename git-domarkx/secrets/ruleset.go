package secrets

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

const genericRule = "generic-api-key"

// notSecret lists rules of gitleaks to omit. Some find account names or values that are published
// with a program. Others are replaced by our own: gitleaks takes every SHA-1 near the word
// Sourcegraph for a token, and reports a user and a password only if both are present.
const notSecret = " adobe-client-id asana-client-id bitbucket-client-id discord-client-id linkedin-client-id lob-pub-api-key mailgun-pub-key" +
	" messagebird-client-id new-relic-user-api-id plaid-client-id sendbird-access-id sumologic-access-id sourcegraph-access-token" +
	" curl-auth-header curl-auth-user private-key hashicorp-tf-password kubernetes-secret-yaml vault-service-token square-access-token "

// A ruleSet is a set of compiled rules.
type ruleSet struct {
	rules    []*rule
	allow    []*allowlist
	paths    func() []*regexp.Regexp // files in which rules that recognize names do not apply
	keywords *automaton
	of       [][]int32 // keyword → indexes of the rules that have it
	scratch  sync.Pool
}

// A document is a file of rules in gitleaks' format.
type document struct {
	Extend     any          `toml:"extend"`
	AllowList  *allowText   `toml:"allowlist"`
	AllowLists []*allowText `toml:"allowlists"`
	Rules      []ruleText   `toml:"rules"`
}

type ruleText struct {
	ID          string   `toml:"id"`
	Regex       string   `toml:"regex"`
	Path        string   `toml:"path"`
	SecretGroup int      `toml:"secretGroup"`
	Entropy     float64  `toml:"entropy"`
	Keywords    []string `toml:"keywords"`

	AllowList  *allowText   `toml:"allowlist"`
	AllowLists []*allowText `toml:"allowlists"`
	Required   any          `toml:"required"`
	SkipReport bool         `toml:"skipReport"`
}

func (t *ruleText) rule() *rule {
	r := &rule{id: t.ID, pattern: t.Regex, group: t.SecretGroup, entropy: t.Entropy, keywords: make([]string, len(t.Keywords))}
	for i, k := range t.Keywords {
		r.keywords[i] = strings.ToLower(k)
	}
	r.allow = allowlists(t.AllowLists, t.AllowList)
	return r
}

func allowlists(texts []*allowText, last *allowText) (all []*allowlist) {
	for _, a := range append(slices.Clip(texts), last) {
		if a != nil {
			all = append(all, &allowlist{allowText: a})
		}
	}
	return all
}

func compile(extra *Rules) *ruleSet {
	set, gitleaks := &ruleSet{}, builtin()
	for i := range gitleaks.Rules {
		if t := &gitleaks.Rules[i]; t.Regex != "" && t.Path == "" && !strings.Contains(notSecret, " "+t.ID+" ") {
			set.rules = append(set.rules, t.rule())
		}
	}
	set.rules = append(set.rules, ownRules()...)
	set.allow = append(set.allow, &allowlist{allowText: gitleaks.AllowList})
	set.paths = sync.OnceValue(func() []*regexp.Regexp {
		var paths []*regexp.Regexp
		for _, p := range gitleaks.AllowList.Paths {
			paths = append(paths, regexp.MustCompile(p))
		}
		return paths
	})
	if extra != nil {
		for i := range extra.rules {
			r := extra.rules[i].rule()
			r.added = true
			set.rules = append(set.rules, r)
		}
		set.allow = append(set.allow, extra.allow...)
	}
	set.link()
	return set
}

// link builds the automaton for all keywords.
func (s *ruleSet) link() {
	index := make(map[string]int, 2*len(s.rules))
	var words []string
	for i, r := range s.rules {
		r.begin()
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
