package all_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
)

// written are the formats in which people write calls for this program to run, and that of OpenPocket, whose calls its resource
// type runs once they are trusted. All others record what other programs did.
var written = map[string]bool{"md": true, "snapshot": true, "openpocket": true}

// TestTranscriptsAreRecords decodes the documents of all formats: a call that another program made is a record, which never
// runs. A new format of a transcript fails here until it has a document with a call, and its codec says that calls are records.
func TestTranscriptsAreRecords(t *testing.T) {
	paths, err := filepath.Glob("../*/testdata/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d documents, %v", len(paths), err)
	}
	calls := map[string]int{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // a directory
		}
		c, ok := format.Pick(all.Codecs(), data[:min(len(data), format.HeadSize)], path)
		if !ok || written[c.Name] {
			continue
		}
		doc, err := c.Decode(format.Source{Path: path, Data: data})
		if err != nil {
			continue // a document that is damaged on purpose
		}
		for _, msg := range doc.Conversation {
			for _, b := range msg.Content {
				if b.Type != domarkx.CodeBlock || b.Language != "tool-call" {
					continue
				}
				calls[c.Name]++
				if !all.IsRecord(b.Text) {
					t.Errorf("%s: a call that could run: %.200s", path, b.Text)
				}
			}
		}
	}
	for _, c := range all.Codecs() {
		if c.Grow != nil && !written[c.Name] && calls[c.Name] == 0 {
			t.Errorf("no document of %s in testdata has a call", c.Name)
		}
	}
}
