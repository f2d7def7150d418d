package all_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
)

func TestCodecsAreWhole(t *testing.T) {
	var names, extensions []string
	for _, c := range all.Codecs() {
		if c.Detect == nil || c.Decode == nil || c.Encode == nil {
			t.Errorf("%s lacks a function", c.Name)
		}
		names = append(names, c.Name)
		for _, e := range c.Extensions {
			if !strings.HasPrefix(e, ".") || e != strings.ToLower(e) || slices.Contains(extensions, e) {
				t.Errorf("%s: extension %q", c.Name, e)
			}
			extensions = append(extensions, e)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"json", "md"}) {
		t.Errorf("got %q", names)
	}
}

// TestCodecsRecogniseTheirOwn: each document is of one format only, and any codec
// reads what another wrote.
func TestCodecsRecogniseTheirOwn(t *testing.T) {
	header := domarkx.NewHeader()
	header.SnapshotID, header.ImportTimestamp = "i", "2025-11-14T10:45:00Z"
	text := domarkx.Block{Type: domarkx.TextBlock, Text: "## assistant\n\n{\"conversation\": []}"}
	doc := &domarkx.Document{Header: header, Conversation: []domarkx.WrittenMessage{
		{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{text}}},
	}}
	for _, c := range all.Codecs() {
		data, err := c.Encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range all.Codecs() {
			if got := other.Detect(data, ""); got != (other.Name == c.Name) {
				t.Errorf("%s says %t to a document in %s", other.Name, got, c.Name)
			}
		}
		read, err := c.Decode(format.Source{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		if !read.Header.Value().Equal(header.Value()) || len(read.Conversation) != 1 || !read.Conversation[0].Equal(doc.Conversation[0].Message) {
			t.Errorf("%s gave back another document: %+v", c.Name, read)
		}
	}
}
