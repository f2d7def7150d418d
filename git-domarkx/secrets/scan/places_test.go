package scan_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

// TestPlaceIn checks the names of places in messages and headers.
func TestPlaceIn(t *testing.T) {
	message := `{"role":"assistant","content":[{"type":"text","text":"A1"},{"type":"code","language":"tool-call","code":"A2"},{"type":"code","language":"go","code":"A3"}],
		"message_metadata":{"usage":{"note":"A4"},"list":[{"x":"A5"}]},"other":"A6"}`
	for mark, want := range map[string]string{"A1": "text", "A2": "tool-call", "A3": "go", "A4": "message_metadata.usage.note", "A5": "message_metadata.list.x", "A6": "other"} {
		if got := scan.PlaceIn([]byte(message), strings.Index(message, mark)); got != want {
			t.Errorf("%s is in %q, expected %q", mark, got, want)
		}
	}
	for _, damaged := range []string{"", "{", `{"a`, "]]", `{"a":]`} {
		if got := scan.PlaceIn([]byte(damaged), len(damaged)); got != "" {
			t.Errorf("%q: place %q", damaged, got)
		}
	}
}

// TestMessageOf checks the numbers of messages by the paths of their files.
func TestMessageOf(t *testing.T) {
	for path, want := range map[string]int{
		"conversation/0000/00/00/00-user.json": 0, "conversation/0000/00/00/15.md": 15, "conversation/0000/00/01/02-assistant.json": 18,
		"conversation/0001/02/03/04.md": 16384 + 2*512 + 3*16 + 4, "snapshot.json": -1, "conversation/0000/00/00/entries": -1, "includes/conversation": -1,
	} {
		if got := scan.MessageOf(path); got != want {
			t.Errorf("%s: message %d, expected %d", path, got, want)
		}
	}
}

// TestIsDigest checks that only the second column of a file of entries counts as a digest.
func TestIsDigest(t *testing.T) {
	const id, key = "0000000030e58b74414d31f652ddf52b", "sk-" + "R0O3mETFzW5k5rG6ZMdUORL1h4bKmi2Fejs1owao" // no key
	for _, test := range []struct {
		entries string
		digest  bool
	}{
		{id + " " + key + " 95 1772359200\n", true},
		{id + " " + strings.Repeat("a", 43) + " 95 1\n" + id + " " + key + " 95 1\n", true},
		{id + " " + key + "x 95 1\n", false}, // too long for a digest
		{id + " " + key + "\n", false},       // the last column
		{id + " " + strings.Repeat("a", 43) + " 95 " + key + "\n", false},
		{key + " " + id + " 95 1\n", false},
	} {
		start := strings.Index(test.entries, key)
		if got := scan.IsDigest([]byte(test.entries), start, start+len(key)); got != test.digest {
			t.Errorf("%q: got %v", test.entries, got)
		}
	}
}
