package importer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// grown returns a transcript of n records, of about 14 KB each.
func grown(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(claudeRecord(i+1, []string{"user", "assistant"}[i%2], strings.Repeat("abcdefghi ", 1400)))
	}
	return text.String()
}

// seals returns the seals in the record of imports.
func (c *clone) seals(change func(*sources.Seal)) (all []*sources.Seal) {
	c.T.Helper()
	files, err := filepath.Glob(filepath.Join(c.Env.StateDir, "sources", "*.json"))
	if err != nil || len(files) == 0 {
		c.T.Fatalf("records %q, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		var byKey map[string]sources.Source
		if err == nil {
			err = json.Unmarshal(data, &byKey)
		}
		if err != nil {
			c.T.Fatal(err)
		}
		for key, source := range byKey {
			if source.Growth != nil && source.Growth.Seal != nil {
				all = append(all, source.Growth.Seal)
				change(source.Growth.Seal)
				byKey[key] = source
			}
		}
		if data, err = json.Marshal(byKey); err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			c.T.Fatal(err)
		}
	}
	return all
}

// TestChangedPrefix: a change in the part of a transcript that was imported is noticed, wherever it is, also when the
// transcript grew.
func TestChangedPrefix(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	path := c.WriteFile("a.jsonl", grown(4))
	name := c.ImportFile(path).Name
	if found := c.seals(func(*sources.Seal) {}); len(found) != 0 {
		t.Errorf("%d seals of a transcript that did not grow", len(found))
	}
	text := grown(6)
	c.ImportFile(c.WriteFile("a.jsonl", text))
	if found := c.seals(func(*sources.Seal) {}); len(found) != 2 {
		t.Fatalf("%d seals of a transcript that grew, want one for its path and one for its id", len(found))
	}
	n := 6
	for _, at := range []int{500, 32<<10 - 50, 32 << 10, 64<<10 + 20, len(text) - 200} {
		at += strings.IndexByte(text[at:], 'e')
		n += 2
		text = text[:at] + "E" + text[at+1:] + grown(n)[len(grown(n-2)):]
		saved := c.ImportFile(c.WriteFile("a.jsonl", text))
		if saved.Name != name || saved.Messages != n || c.exported(name, "claude-code") != text {
			t.Fatalf("changed at %d: %s with %d messages is not the file", at, saved.Name, saved.Messages)
		}
		n += 2 // it grows again, which makes a seal
		text += grown(n)[len(grown(n-2)):]
		if saved := c.ImportFile(c.WriteFile("a.jsonl", text)); saved.Messages != n || c.exported(name, "claude-code") != text {
			t.Fatalf("grown to %d messages, want %d", saved.Messages, n)
		}
	}
	c.Fsck()
}

// TestDamagedSeals: a damaged seal in the record of imports costs time, and nothing else.
func TestDamagedSeals(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	name := c.ImportFile(c.WriteFile("a.jsonl", grown(2))).Name
	n := 4
	c.ImportFile(c.WriteFile("a.jsonl", grown(n)))
	var former sources.Seal
	c.seals(func(s *sources.Seal) { former = *s })
	for what, damage := range map[string]func(*sources.Seal){
		"intact":                 func(*sources.Seal) {},
		"a short sum":            func(s *sources.Seal) { s.Sum = s.Sum[:8] },
		"another sum":            func(s *sources.Seal) { s.Sum[0] ^= 1 },
		"no key":                 func(s *sources.Seal) { s.Key = nil },
		"another key":            func(s *sources.Seal) { s.Key[0] ^= 1 },
		"a long key":             func(s *sources.Seal) { s.Key = append(s.Key, s.Key...) },
		"no state":               func(s *sources.Seal) { s.State = nil },
		"a state of another one": func(s *sources.Seal) { s.State = former.State },
		"no valid state":         func(s *sources.Seal) { s.State = s.State[:20] },
		"empty":                  func(s *sources.Seal) { *s = sources.Seal{} },
	} {
		c.ImportFile(c.WriteFile("a.jsonl", grown(n+1))) // makes a seal
		if found := c.seals(damage); len(found) != 2 {
			t.Errorf("%s: %d seals", what, len(found))
		}
		n += 2
		saved := c.ImportFile(c.WriteFile("a.jsonl", grown(n)))
		if saved.Name != name || saved.Messages != n || c.exported(name, "claude-code") != grown(n) {
			t.Errorf("%s: grown to %d messages, want %d", what, saved.Messages, n)
		}
	}
	c.Fsck()
}
