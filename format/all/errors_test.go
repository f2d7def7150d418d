package all_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// long is a document that is larger than the blocks in which codecs read files, and that all
// formats can represent but for its thought.
func long() *domarkx.Document {
	doc := &domarkx.Document{Header: domarkx.NewHeader()}
	doc.Header.SnapshotID, doc.Header.ImportTimestamp = "i", "2025-11-14T10:45:00Z"
	text := func(s string) domarkx.Block { return domarkx.Block{Type: domarkx.TextBlock, Text: s} }
	for range 5 {
		doc.Conversation = append(doc.Conversation,
			domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{text("Question.")}}},
			domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{text(strings.Repeat("An answer of many lines.\n\n", 8<<10)), text("Another line.")}}})
	}
	return doc
}

// encodings are the long document in each format, by name; formats that are only read have none.
var encodings = sync.OnceValue(func() map[string]string {
	data := map[string]string{}
	for _, c := range all.Codecs() {
		text, err := c.Encode(long(), format.Target{})
		if err != nil && !errors.Is(err, domarkx.ErrUnsupported) {
			panic(err)
		}
		data[c.Name] = string(text)
	}
	return data
})

// TestReadErrors: whichever read of a document fails, the error is returned, and never a document
// that lacks something.
func TestReadErrors(t *testing.T) {
	for _, c := range all.Codecs() {
		data := encodings()[c.Name]
		if c.Open == nil || data == "" {
			continue
		}
		for reads := 0; ; reads++ {
			f := formattest.File(data)
			content := &formattest.FailingReader{ReaderAt: f.Content, Reads: reads}
			f.Content = content
			err := formattest.ReadAll(c, f)
			if content.Failed() != errors.Is(err, formattest.ErrBroken) {
				t.Errorf("%s: read %d fails: %v", c.Name, reads, err)
			}
			if content.Failed() && !strings.HasPrefix(err.Error(), "f: ") {
				t.Errorf("%s: read %d fails without the name of the file: %v", c.Name, reads, err)
			}
			if !content.Failed() {
				if reads < 2 {
					t.Errorf("%s: read the document in %d reads", c.Name, reads)
				}
				break
			}
			if testing.Short() && reads > 10 {
				reads += 6 // each reads the document again up to there
			}
		}
	}
}

// TestShorterFiles: a file that becomes shorter while it is read is invalid.
func TestShorterFiles(t *testing.T) {
	for _, c := range all.Codecs() {
		data := encodings()[c.Name]
		if c.Open == nil || data == "" {
			continue
		}
		for _, left := range []int{0, 1 << 10, len(data) - 1} {
			f := formattest.File(data)
			f.Content = strings.NewReader(data[:left])
			if err := formattest.ReadAll(c, f); !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), "import it again") {
				t.Errorf("%s: %d of %d bytes are left: %v", c.Name, left, len(data), err)
			}
		}
	}
}

// TestWriteErrors: an error of the messages or of the output ends the writing.
func TestWriteErrors(t *testing.T) {
	doc := long()
	for _, c := range all.Codecs() {
		if c.Write == nil {
			continue
		}
		for _, k := range []int{0, len(doc.Conversation) - 1} {
			write, err := c.Write(doc.Header, formattest.FailingMessages{Messages: format.Conversation(doc.Conversation), K: k}, format.Target{})
			if err == nil {
				err = write(io.Discard)
			}
			if !errors.Is(err, formattest.ErrBroken) {
				t.Errorf("%s: message %d cannot be read: %v", c.Name, k, err)
			}
		}
		write, err := c.Write(doc.Header, format.Conversation(doc.Conversation), format.Target{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for _, room := range []int{0, 100, len(encodings()[c.Name]) - 1} {
			out := formattest.FailingWriter(room)
			if err := write(&out); !errors.Is(err, formattest.ErrBroken) {
				t.Errorf("%s: there is room for %d bytes: %v", c.Name, room, err)
			}
		}
	}
}

// TestWriteIsEncode: both write the same bytes, each time.
func TestWriteIsEncode(t *testing.T) {
	doc := long()
	for _, c := range all.Codecs() {
		if c.Write == nil {
			continue
		}
		want := encodings()[c.Name]
		write, err := c.Write(doc.Header, format.Conversation(doc.Conversation), format.Target{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for range 2 {
			var out bytes.Buffer
			if err := write(&out); err != nil || out.String() != want {
				t.Errorf("%s: wrote %d bytes, Encode %d: %v", c.Name, out.Len(), len(want), err)
			}
		}
	}
}

// TestOpenIsDecode: both read the same document.
func TestOpenIsDecode(t *testing.T) {
	for _, c := range all.Codecs() {
		data := encodings()[c.Name]
		if c.Open == nil || data == "" {
			continue
		}
		whole, err := c.Decode(format.Source{Path: "s.jsonl", Data: []byte(data)})
		if err != nil {
			t.Fatal(err)
		}
		opened := formattest.MustOpen(t, c, data)
		if len(opened) != 1 || !opened[0].Document.Header.Value().Equal(whole.Header.Value()) {
			t.Errorf("%s: %d conversations", c.Name, len(opened))
		}
		if diff := cmp.Diff(formattest.Shown(whole), formattest.Shown(opened[0].Document)); diff != "" {
			t.Errorf("%s (-Decode +Open):\n%s", c.Name, diff)
		}
	}
}

// TestLosses: whatever a format cannot represent of a session is reported, by its name.
func TestLosses(t *testing.T) {
	extra := func(name string) []jsonvalue.Member {
		return []jsonvalue.Member{{Name: name, Value: jsonvalue.StringValue("x")}}
	}
	doc := &domarkx.Document{Header: domarkx.NewHeader()}
	doc.Header.SnapshotID, doc.Header.ImportTimestamp = "i", "2025-11-14T10:45:00Z"
	doc.Header.ExecutionConfig = jsonvalue.ObjectValue(extra("model")...)
	doc.Header.Setup = &domarkx.Script{Language: "sh", Code: "true"}
	doc.Header.MetadataExtra, doc.Header.Extra = extra("x_metadata"), extra("x_document")
	about := jsonvalue.ObjectValue(extra("x_user")...)
	doc.Header.UserMetadata = &about
	metadata := jsonvalue.ObjectValue(extra("x_message_metadata")...)
	doc.Conversation = []domarkx.WrittenMessage{{Message: domarkx.Message{Role: domarkx.User, Metadata: &metadata, Extra: extra("x_message"),
		Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "Hi", Extra: extra("x_block")}}}}}
	for _, c := range all.Codecs() {
		if c.Name == "md" || c.Name == "json" || c.Records && c.Write == nil { // the first two represent everything
			continue
		}
		_, lost := formattest.Encode(t, c, doc)
		all := strings.Join(lost, "\n")
		names := []string{"execution_config", "setup_script", "x_metadata", "x_document"}
		if c.Name != "zeus" { // it loses the message
			names = append(names, "x_message_metadata", "x_message", "content blocks")
		}
		for _, name := range names {
			if !strings.Contains(all, name) {
				t.Errorf("%s does not report %s:\n%s", c.Name, name, all)
			}
		}
	}
	for _, name := range []string{"md", "json"} {
		c, _ := format.ByName(all.Codecs(), name)
		if _, lost := formattest.Encode(t, c, doc); len(lost) > 0 {
			t.Errorf("%s: lost %q", name, lost)
		}
	}
}
