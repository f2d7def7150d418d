package placeholder

import (
	"crypto/sha256"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// RuleOf returns the rule that finds a secret in content that cannot be edited, or "" if there is none.
func (t *Table) RuleOf(content []byte) (rule string) {
	if secrets.IsContainer(content) {
		err := secrets.Unpack(content, func(_ string, part []byte) {
			if rule == "" {
				rule = t.RuleOf(part)
			}
		})
		if unread := t.scan.Unread(sha256.Sum256(content)); rule == "" && err != nil && (t.allow == nil || !t.allow(unread.Fingerprint)) {
			rule = unread.Rule
		}
		return rule
	}
	if text, changed := t.Redact(content, secrets.IsText(content)); changed {
		return RuleIn(text)
	}
	if secrets.IsText(content) {
		return ""
	}
	for _, f := range t.scan.File("", content) {
		if t.allow == nil || !t.allow(f.Fingerprint) {
			return f.Rule
		}
	}
	return ""
}

// RuleIn returns the rule named by the first placeholder in a redacted text.
func RuleIn(text []byte) string {
	if m := placeholders().FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "unknown"
}
