package redact

import (
	"context"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
)

// numbersKey is the key of the local state for the numbers of secrets. Each value consists of the
// first snapshot of a history, the secret's fingerprint keyed with that snapshot, and the
// placeholder, separated by spaces.
const numbersKey = "redacted"

// maxNumbers is the maximum number of secrets whose numbers are stored.
const maxNumbers = 20_000

// keyed returns a fingerprint keyed with the first snapshot of a history, so that what is stored says nothing about secrets elsewhere.
func keyed(root, fingerprint string) string {
	return secrets.Fingerprint([]byte(root), []byte(fingerprint))
}

// recall makes a table use the numbers that this machine has stored for the secrets of the history whose first snapshot is root. It
// returns these secrets.
func (m *Redactor) recall(ctx context.Context, root string, t *placeholder.Table) (map[string]placeholder.Secret, error) {
	values, err := m.env.Local.All(ctx, numbersKey)
	known := map[string]placeholder.Secret{}
	for _, v := range values {
		f := strings.Fields(v)
		if len(f) != 3 || f[0] != root {
			continue
		}
		if s, ok := placeholder.Parse(f[2]); ok {
			known[f[1]] = s
		}
	}
	t.Recall = func(fingerprint string) (placeholder.Secret, bool) {
		s, ok := known[keyed(root, fingerprint)]
		return s, ok
	}
	return known, err
}

func (m *Redactor) remember(ctx context.Context, root string, t *placeholder.Table) error {
	if len(t.Secrets()) == 0 {
		return nil
	}
	var lines []string
	for fingerprint, s := range t.Secrets() {
		lines = append(lines, root+" "+keyed(root, fingerprint)+" "+s.String())
	}
	slices.Sort(lines)
	return m.env.Local.Change(ctx, numbersKey, func(values []string) []string {
		for _, line := range lines {
			if !slices.Contains(values, line) {
				values = append(values, line)
			}
		}
		return values[max(0, len(values)-maxNumbers):]
	})
}
