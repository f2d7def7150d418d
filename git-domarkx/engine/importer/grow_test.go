package importer_test

import (
	"strings"
	"testing"
)

// grown returns a transcript of n records, of about 14 KB each.
func grown(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(claudeRecord(i+1, []string{"user", "assistant"}[i%2], strings.Repeat("abcdefghi ", 1400)))
	}
	return text.String()
}

// TestChangedPrefix: a change in the part of a transcript that was imported is noticed, wherever it is, also when the
// transcript grew.
func TestChangedPrefix(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	path := c.WriteFile("a.jsonl", grown(4))
	name := c.ImportFile(path).Name
	text := grown(6)
	c.ImportFile(c.WriteFile("a.jsonl", text))
	n := 6
	for _, at := range []int{500, 32<<10 - 50, 32 << 10, 64<<10 + 20, len(text) - 200} {
		at += strings.IndexByte(text[at:], 'e')
		n += 2
		text = text[:at] + "E" + text[at+1:] + grown(n)[len(grown(n-2)):]
		saved := c.ImportFile(c.WriteFile("a.jsonl", text))
		if saved.Name != name || saved.Messages != n || c.exported(name, "claude-code") != text {
			t.Fatalf("changed at %d: %s with %d messages is not the file", at, saved.Name, saved.Messages)
		}
		n += 2 // it grows again
		text += grown(n)[len(grown(n-2)):]
		if saved := c.ImportFile(c.WriteFile("a.jsonl", text)); saved.Messages != n || c.exported(name, "claude-code") != text {
			t.Fatalf("grown to %d messages, want %d", saved.Messages, n)
		}
	}
	c.Fsck()
}
