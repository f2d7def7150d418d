package all_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for _, path := range files {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte("\nfunc Codec() format.Codec {")) {
			packages++
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != packages || len(names) != len(all.Codecs()) {
		t.Errorf("%d packages have a codec, and these are listed: %q", packages, names)
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
		if c.Records && c.Write == nil && errors.Is(err, domarkx.ErrUnsupported) { // it can only be read
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
	for _, c := range all.Codecs() {
		if all.IsRecord(`{"resource": "`+c.Name+`"}`) != c.Records {
			t.Errorf("calls of the resource %s are records, or are not", c.Name)
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
