package markdown_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
)

// opened reads a document a message at a time.
func opened(data []byte, include func(string) ([]byte, error)) (*domarkx.Document, error) {
	for s, err := range markdown.Reading(0).Open(format.File{Path: "d.md", Content: bytes.NewReader(data), Size: int64(len(data)), Include: include}) {
		if err != nil {
			return nil, err
		}
		return s.Document()
	}
	return nil, errors.New("no conversation")
}

// sameWhole fails a test when a document reads as another a message at a time than as a whole.
func sameWhole(t interface {
	Helper()
	Fatalf(string, ...any)
}, data []byte, include func(string) ([]byte, error)) {
	t.Helper()
	whole, wholeErr := markdown.Decode(format.Source{Path: "d.md", Data: bytes.Clone(data), Include: include})
	apart, err := opened(data, include)
	if (err == nil) != (wholeErr == nil) || err != nil && err.Error() != wholeErr.Error() {
		t.Fatalf("read apart: %v\nas a whole: %v\n%q", err, wholeErr, data)
	}
	if wholeErr != nil {
		return
	}
	if len(whole.Conversation) == 0 {
		whole.Conversation = apart.Conversation
	}
	values := cmp.Comparer(func(a, b jsonvalue.Value) bool { return a.JSON() == b.JSON() })
	if diff := cmp.Diff(whole, apart, values, cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) })); diff != "" {
		t.Fatalf("read apart as another (+) than as a whole (-): %s\n%q", diff, data)
	}
}

func TestReadApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { sameWhole(t, []byte(document().Draw(t, "document")), included) })
}

func TestReadApartGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sameWhole(t, data, nil)
		sameWhole(t, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), nil)
	}
	large := strings.Repeat("a line of the text\n", 40_000) // more than is read of a file at once
	for _, data := range []string{"", "---", "---\n", "---\na: 1\n---", "\ufeff---\na: 1\n...\n## user", "\ufeff## user\n\nx", "text\n  ## user\n\n   ## assistant\n```\n",
		"---\na: [\n---\n## user\n", "## user\n\n```json msg-metadata\n{\n```\n", "## user\n\nx\n\n## assistant\n\n```json msg-metadata\n[]\n```\n\n## user\n```workspace-config\n- x\n```\n",
		"```workspace-config\nresources:\n  - id: a\n    type: x\n```\n## user\n```workspace-config\nresources: []\n```\n", "## user\n" + large + "\n## assistant\n\n" + large + "## user\n" + large} {
		sameWhole(t, []byte(data), nil)
	}
}
