package redact

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// numbersKey is the key of the local state for the numbers of secrets. Each value consists of the
// first snapshot of a history, the secret's fingerprint keyed with that snapshot, and the
// placeholder, separated by spaces.
const numbersKey = "redacted"

// maxNumbers is the maximum number of secrets whose numbers are stored.
const maxNumbers = 20_000

// A memory holds the numbers of a history's secrets that this machine has stored. It does not
// contain the secrets.
type memory struct {
	root         string
	placeholders map[string]secret
}

func (m *memory) print(fingerprint string) string {
	sum := hmac.New(sha256.New, []byte(m.root))
	sum.Write([]byte(fingerprint))
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

// find returns the secret with a fingerprint, or nil if it is unknown.
func (m *memory) find(fingerprint string) *secret {
	if m == nil {
		return nil
	}
	if s, ok := m.placeholders[m.print(fingerprint)]; ok {
		return &s
	}
	return nil
}

// recall reads the numbers of the secrets of the history whose first snapshot is root.
func (m *Redactor) recall(ctx context.Context, root string) (*memory, error) {
	values, err := m.env.Local.All(ctx, numbersKey)
	if err != nil {
		return nil, err
	}
	known := &memory{root: root, placeholders: map[string]secret{}}
	for _, v := range values {
		f := strings.Fields(v)
		if len(f) != 3 || f[0] != root {
			continue
		}
		if s, ok := parsePlaceholder(f[2]); ok {
			known.placeholders[f[1]] = s
		}
	}
	return known, nil
}

// remember stores the numbers of the secrets in a table.
func (m *Redactor) remember(ctx context.Context, root string, t *table) error {
	if len(t.prints) == 0 {
		return nil
	}
	known := &memory{root: root}
	var lines []string
	for fingerprint, s := range t.prints {
		lines = append(lines, root+" "+known.print(fingerprint)+" "+s.placeholder())
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
