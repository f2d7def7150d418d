package mdtext_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		text   string
		blocks int
		glued  bool
	}{
		{"", 0, false},
		{"Plain.", 1, false},
		{"Look:\n\n```go\nx\n```", 2, false},
		{"Look:\n```go\nx\n```\nAnd on.", 3, true},
		{"~~~~ go\n```\n~~~~\n\n\n\nEnd", 2, true},
		{"never\r\n```\nclosed", 2, true},
		{"a lone \xed\xa0\x80 surrogate\n\n```\nx\n```", 1, false},
	} {
		blocks, between := mdtext.Split(test.text)
		if len(blocks) != test.blocks || (between != nil) != test.glued {
			t.Errorf("%q: got %d blocks, glue %q", test.text, len(blocks), between)
		}
		if got := mdtext.Join(blocks, between); got != test.text {
			t.Errorf("%q: joined to %q", test.text, got)
		}
	}
}

// TestAnyText: joining split text restores it, also with glue that was stored in the
// metadata of a message.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"```", "~~~", "````", "\n", " ", "\n\n", "go", "text", "    ", "> ", "- ", "\r", "\xff", "\xed\xa0\x80", "é", "## user"})).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		blocks, between := mdtext.Split(text)
		if got := mdtext.Join(blocks, between); got != text {
			t.Fatalf("%q: split into %+v with %q, joined to %q", text, blocks, between, got)
		}
		m := domarkx.Message{Content: blocks}
		if between == nil {
			return
		}
		metadata := jsonvalue.ObjectValue(jsonvalue.Member{Name: domarkx.MetadataGlue, Value: jsonvalue.Strings(between)})
		m.Metadata = &metadata
		if got := mdtext.Join(blocks, m.Glue()); got != text {
			t.Fatalf("%q: with the glue of metadata %q", text, got)
		}
	})
}
