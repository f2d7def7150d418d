package zeus_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/zeus"
)

// TestIsTranscript: sessions of pi are distinguished from all other files that a document may name.
func TestIsTranscript(t *testing.T) {
	for head, want := range map[string]bool{
		`{"type":"session","version":3,"id":"a","cwd":"/x"}` + "\n{}\n": true,
		`{"type":"session","id":"a"}`:                                   true, // of version 1
		"\r\nnot JSON\r\n{\"type\":\"session\",\"id\":\"a\"}\r\n":       true, // pi passes such lines over
		"":                            false,
		"root:x:0:0:root\n":           false,
		"-----BEGIN PRIVATE KEY-----": false,
		`{"type":"session"}`:          false,
		`{"type":"session","id":""}`:  false,
		`{"type":"message","id":"a"}`: false,
		`{"id":"a"}` + "\n" + `{"type":"session","id":"a"}`: false,
		`["session"]`:                  false,
		`{"type":"session","id":"a"`:   false, // cut off
		strings.Repeat("\x00", 70_000): false,
	} {
		if got := zeus.IsTranscript([]byte(head)); got != want {
			t.Errorf("%.60q: got %v, expected %v", head, got, want)
		}
	}
}

// TestDigest notes which transcript was kept, which no snapshot of Zeus shows.
func TestDigest(t *testing.T) {
	files := zeus.Codec().NamedFiles
	doc := decode(t, formattest.Read(t, "testdata/fleet.json"))
	digest := strings.Repeat("0f", 32)
	for i, m := range doc.Conversation {
		if files.Of(m.Message) == "" || files.Digest(m.Message) != "" {
			t.Errorf("message %d: path %q, digest %q", i, files.Of(m.Message), files.Digest(m.Message))
		}
		doc.Conversation[i].Message = files.WithDigest(m.Message, digest)
		if got := files.Digest(doc.Conversation[i].Message); got != digest {
			t.Errorf("message %d: digest %q", i, got)
		}
	}
	var lost format.Losses
	out, err := zeus.Codec().Encode(doc, format.Target{Losses: &lost})
	if err != nil || string(out) != formattest.Read(t, "testdata/fleet.json") || lost.Len() > 0 {
		t.Errorf("%v, lost %q:\n%s", err, lost.Texts(), out)
	}
}
