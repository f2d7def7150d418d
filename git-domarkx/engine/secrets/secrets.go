// Package secrets finds secrets in text, in the values of JSON, in files and in the metadata of images.
//
// The rules are those of gitleaks (directory gitleaks, MIT licence) and our own for what these miss.
// The package does no input or output, and gives the same answer for the same bytes on every machine:
// only fingerprints depend on the machine's key.
package secrets

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
)

// A Finding is a secret in a text.
type Finding struct {
	Rule        string // the id of the rule
	Start, End  int    // the secret's bytes in the text that was scanned; in JSON, of the literal between its quotes
	Fingerprint string // the same for equal secrets, whatever the rule and the place
	Masked      string // the public prefix of the secret, if it has one, and asterisks
}

// A Scanner finds secrets. Its methods may be called concurrently. Rules are compiled when they
// are first needed, so that creating a scanner costs nothing.
type Scanner struct {
	key   []byte
	extra *Rules
	once  sync.Once
	set   *ruleSet
}

// New returns a scanner with the built-in rules and extra ones, which may be nil. Fingerprints depend on
// the key, so that nobody without it can try out guesses at a secret.
func New(key []byte, extra *Rules) *Scanner { return &Scanner{key: key, extra: extra} }

func (s *Scanner) rules() *ruleSet {
	s.once.Do(func() { s.set = compile(s.extra) })
	return s.set
}

// Text returns the secrets in a text, in ascending order and without overlaps.
func (s *Scanner) Text(text []byte) []Finding {
	return s.findings(s.rules().text(text, strong|weak), func(m match) []byte { return text[m.start:m.end] })
}

// Value returns the secrets in a value whose name is known, such as the argument "password" of a call.
func (s *Scanner) Value(name string, value []byte) []Finding {
	return s.findings(s.rules().value(name, value), func(m match) []byte { return value[m.start:m.end] })
}

// JSON returns the secrets in the values of JSON, or of lines of JSON: in strings, in JSON inside of strings, and with
// the names of members as context. The values of ids, signatures, digests and images are left out. What
// is not JSON, such as a damaged line, is scanned as text.
func (s *Scanner) JSON(data []byte) []Finding {
	found := s.rules().json(data)
	return s.findings(found, func(m match) []byte {
		if m.secret != nil {
			return m.secret
		}
		return data[m.start:m.end]
	})
}

// A match is a secret that a rule found.
type match struct {
	rule       string
	start, end int
	prefix     string // the public prefix of the secret
	secret     []byte // the decoded secret, where the bytes of the text differ from it
	weak       bool   // found by the name before it, not by the secret's own form
}

func (s *Scanner) findings(matches []match, secret func(match) []byte) []Finding {
	if len(matches) == 0 {
		return nil
	}
	found := make([]Finding, 0, len(matches))
	for _, m := range matches {
		if text := secret(m); !s.allows(text) {
			found = append(found, Finding{Rule: m.rule, Start: m.start, End: m.end, Fingerprint: s.fingerprint(text), Masked: m.prefix + "****"})
		}
	}
	return found
}

// allows reports whether an allowlist of the extra rules allows a secret, whatever rule found it.
func (s *Scanner) allows(secret []byte) bool {
	if s.extra == nil {
		return false
	}
	text := string(secret)
	return slices.ContainsFunc(s.extra.allow, func(a *allowlist) bool { return a.allows(text, text, text) })
}

func (s *Scanner) fingerprint(secret []byte) string {
	sum := hmac.New(sha256.New, s.key)
	sum.Write(secret)
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

// resolve sorts matches and joins those that overlap: the secret's own form determines the rule, among equals the longer match.
func resolve(matches []match) []match {
	if len(matches) < 2 {
		return matches
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), compareBool(a.weak, b.weak),
			compareBool(a.rule == genericRule, b.rule == genericRule), cmp.Compare(a.rule, b.rule))
	})
	kept := matches[:1]
	for _, m := range matches[1:] {
		last := &kept[len(kept)-1]
		if m.start >= last.end {
			kept = append(kept, m)
			continue
		}
		if last.weak && !m.weak {
			last.rule, last.prefix, last.weak = m.rule, m.prefix, false
			if m.start > last.start {
				last.prefix = ""
			}
		}
		last.end = max(last.end, m.end)
	}
	return kept
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// rulesVersion changes whenever a text may have other findings.
const rulesVersion = "3"

// Version identifies the rules: a text need not be scanned again under the same version.
func (s *Scanner) Version() string {
	if s.extra == nil {
		return rulesVersion
	}
	return rulesVersion + "-" + s.extra.digest
}
