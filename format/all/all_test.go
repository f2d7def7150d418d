package all_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
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
	if slices.Sort(names); !slices.Equal(names, []string{"agent-chatter", "claude-code", "codex", "copilot", "cursor", "gemini", "json", "md", "opencode", "openpocket", "pi", "qwen", "zeus"}) {
		t.Errorf("got %q", names)
	}
}

// TestCodecsRecogniseTheirOwn: each document is of one format only, and any codec
// reads back the messages and the header that it wrote, or it reported the
// losses.
func TestCodecsRecogniseTheirOwn(t *testing.T) {
	header := domarkx.NewHeader()
	header.SnapshotID, header.ImportTimestamp = "i", "2025-11-14T10:45:00Z"
	text := domarkx.Block{Type: domarkx.TextBlock, Text: "## assistant\n\n{\"conversation\": []}"}
	doc := &domarkx.Document{Header: header, Conversation: []domarkx.WrittenMessage{
		{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{text}}},
	}}
	for _, c := range all.Codecs() {
		var lost format.Losses
		data, err := c.Encode(doc, format.Target{Losses: &lost})
		if c.Name == "cursor" && errors.Is(err, domarkx.ErrUnsupported) { // it can only be read
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if by, ok := format.Detect(all.Codecs(), data, ""); !ok || by.Name != c.Name {
			t.Errorf("a document in %s is taken for %q", c.Name, by.Name)
		}
		read, err := c.Decode(format.Source{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		if lost.Len() > 0 {
			continue
		}
		own := c.Name == "md" || c.Name == "json" // the others have headers of their own
		if own && !read.Header.Value().Equal(header.Value()) || len(read.Conversation) != 1 || !slices.Equal(texts(read), texts(doc)) {
			t.Errorf("%s gave back another document: %+v", c.Name, read)
		}
	}
}

// TestAgentsAreRecords: nothing runs a call in the transcript of an agent.
func TestAgentsAreRecords(t *testing.T) {
	for name, want := range map[string]bool{"claude-code": true, "codex": true, "copilot": true, "cursor": true, "gemini": true, "opencode": true, "pi": true, "qwen": true,
		"agent-chatter": false, "json": false, "md": false, "openpocket": false, "zeus": false, "shell": false} {
		if all.IsRecord(`{"resource": "`+name+`"}`) != want {
			t.Errorf("calls of the resource %s are records, or are not", name)
		}
	}
}

func texts(doc *domarkx.Document) []string {
	var all []string
	for _, m := range doc.Conversation {
		for _, b := range m.Content {
			all = append(all, string(m.Role)+" "+string(b.Type)+" "+b.Language+" "+b.Name+" "+b.Text)
		}
	}
	return all
}
