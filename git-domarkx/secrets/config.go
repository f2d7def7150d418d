package secrets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/domarkx/domarkx/format/domarkx"
)

// The limits of rules in a repository.
const (
	MaxRules   = 64 << 10 // size of a file of rules in bytes
	maxAdded   = 200      // number of rules
	maxPattern = 2000     // size of a regular expression in bytes
	maxProgram = 40_000   // approximate number of instructions of all compiled regular expressions
	maxWords   = 60_000   // bytes of all keywords, and of the stop words of an allowlist
)

// Rules are additional rules of a user or a repository.
type Rules struct {
	rules  []ruleText
	allow  []*allowlist
	digest string
}

// ParseRules parses rules in the format of gitleaks. Each rule must have an id, a keyword and a
// pattern of bounded size; rules for paths alone or with several parts are rejected. If allow is
// false, allowlists are omitted. The error matches [domarkx.ErrUnsupported] if the rules extend
// others.
func ParseRules(data []byte, allow bool) (*Rules, error) {
	if len(data) > MaxRules {
		return nil, fmt.Errorf("%w: %d bytes, expected at most %d", domarkx.ErrInvalid, len(data), MaxRules)
	}
	var d document
	if _, err := toml.Decode(string(data), &d); err != nil {
		return nil, fmt.Errorf("%w: %w", domarkx.ErrInvalid, err)
	}
	switch {
	case d.Extend != nil:
		return nil, fmt.Errorf("%w: extend; write the rules into this file, the built-in ones always count", domarkx.ErrUnsupported)
	case len(d.Rules) > maxAdded:
		return nil, fmt.Errorf("%w: %d rules, expected at most %d", domarkx.ErrInvalid, len(d.Rules), maxAdded)
	}
	rules := &Rules{}
	budget, words := maxProgram, 0
	for i, r := range d.Rules {
		if words += size(r.Keywords); words > maxWords {
			return nil, fmt.Errorf("%w: keywords of more than %d bytes", domarkx.ErrInvalid, maxWords)
		}
		if err := checkRule(r, &budget); err != nil {
			return nil, fmt.Errorf("rule %d %q: %w", i+1, r.ID, err)
		}
		if !allow {
			r.AllowList, r.AllowLists = nil, nil
		}
		if err := checkAllowlists(allowlists(r.AllowLists, r.AllowList), &budget); err != nil {
			return nil, fmt.Errorf("rule %d %q: %w", i+1, r.ID, err)
		}
		rules.rules = append(rules.rules, r)
	}
	if allow {
		rules.allow = allowlists(d.AllowLists, d.AllowList)
	}
	if err := checkAllowlists(rules.allow, &budget); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%t\n%s", allow, data))
	rules.digest = hex.EncodeToString(sum[:8])
	return rules, nil
}

func checkRule(r ruleText, budget *int) error {
	switch {
	case r.ID == "" || len(r.ID) > 100 || strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "":
		return fmt.Errorf("%w: id %q, expected letters, digits, - and _", domarkx.ErrInvalid, r.ID)
	case r.Regex == "":
		return fmt.Errorf("%w: a rule without regex", domarkx.ErrUnsupported)
	case r.Path != "" || r.Required != nil || r.SkipReport:
		return fmt.Errorf("%w: path, required and skipReport", domarkx.ErrUnsupported)
	case len(r.Keywords) == 0:
		return fmt.Errorf("%w: no keywords; name a text that is near each secret", domarkx.ErrInvalid)
	}
	for _, k := range r.Keywords {
		if len(k) < 3 || len(k) > 100 {
			return fmt.Errorf("%w: keyword %q, expected 3 to 100 bytes", domarkx.ErrInvalid, k)
		}
	}
	re, err := checkPattern(r.Regex, budget)
	if err == nil && (r.SecretGroup < 0 || r.SecretGroup > re.NumSubexp()) {
		err = fmt.Errorf("%w: secretGroup %d, the regex has %d groups", domarkx.ErrInvalid, r.SecretGroup, re.NumSubexp())
	}
	return err
}

func checkAllowlists(all []*allowlist, budget *int) error {
	for _, a := range all {
		for _, pattern := range a.Regexes {
			if _, err := checkPattern(pattern, budget); err != nil {
				return fmt.Errorf("allowlist: %w", err)
			}
		}
		if size(a.StopWords) > maxWords {
			return fmt.Errorf("allowlist: %w: stop words of more than %d bytes", domarkx.ErrInvalid, maxWords)
		}
		if slices.Contains(a.StopWords, "") {
			return fmt.Errorf("allowlist: %w: an empty stop word", domarkx.ErrInvalid)
		}
	}
	return nil
}

func size(words []string) int {
	n := 0
	for _, word := range words {
		n += len(strings.ToLower(word))
	}
	return n
}

// checkPattern compiles a pattern. Matching takes time linear in the text (RE2), multiplied by the
// size of the program, which repetitions can enlarge.
func checkPattern(pattern string, budget *int) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("%w: a regex of %d bytes, expected at most %d", domarkx.ErrInvalid, len(pattern), maxPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	var program *syntax.Prog
	if err == nil {
		program, err = syntax.Compile(parsed.Simplify())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", domarkx.ErrInvalid, err)
	}
	if *budget -= len(program.Inst); *budget < 0 {
		return nil, fmt.Errorf("%w: the regular expressions are too large together", domarkx.ErrInvalid)
	}
	re, err := regexp.Compile(pattern)
	if err == nil && re.MatchString("") {
		err = errors.New("the regex matches an empty text")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", domarkx.ErrInvalid, err)
	}
	return re, nil
}
