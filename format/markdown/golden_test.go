package markdown_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
)

// fromJSON reads a document that may lack members that are derived when it is shown.
func fromJSON(t *testing.T, text []byte) *domarkx.Document {
	t.Helper()
	v, err := jsonvalue.ParseValue(text)
	if err != nil {
		t.Fatal(err)
	}
	doc := &domarkx.Document{}
	if doc.Header, err = domarkx.ParseHeader(v, true); err != nil {
		t.Fatal(err)
	}
	messages, err := domarkx.Conversation(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range messages {
		m, err := domarkx.ParseMessage(item, "")
		if err != nil {
			t.Fatal(err)
		}
		doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: m})
	}
	return doc
}

// TestCanonicalForm pins the canonical rendering: it is part of storage format 1
// and must never change.
func TestCanonicalForm(t *testing.T) {
	sources, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(sources) < 3 {
		t.Fatalf("found %d golden files, %v", len(sources), err)
	}
	for _, source := range sources {
		t.Run(filepath.Base(source), func(t *testing.T) {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			doc := fromJSON(t, text)
			got, err := markdown.Encode(doc)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(source, ".json") + ".md")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-golden +got):\n%s", diff)
			}
			read, err := markdown.Decode(format.Source{Data: want})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(shape(doc), shape(read)); diff != "" {
				t.Errorf("read as (-json +got):\n%s", diff)
			}
		})
	}
}
