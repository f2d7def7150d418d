package view_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/original"
)

// files are stored contents and includes in memory. Reading anything else fails.
type files struct {
	blobs    map[string][]byte
	includes []domarkx.Include
}

func (f files) Read(_ context.Context, b domarkx.Blob) ([]byte, error) {
	if data, ok := f.blobs[b.ID]; ok {
		return data, nil
	}
	return nil, formattest.ErrBroken
}

func (f files) Includes(_ context.Context, tree string) ([]domarkx.Include, error) {
	if tree != "tree" {
		return nil, formattest.ErrBroken
	}
	return f.includes, nil
}

func (f files) Origin(context.Context, string) (*original.Document, error) {
	return nil, formattest.ErrBroken
}

// stateOf returns the state of a session with a document.
func stateOf(t *testing.T, text string) *domarkx.State {
	t.Helper()
	doc, err := markdown.Decode(format.Source{Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	header := domarkx.HeaderEntry{JSON: domarkx.Blob{Data: view.PrettyJSON(doc.Header.Value())}, Layout: doc.Preamble.Layout}
	if header.Layout.Verbatim {
		header.Source = domarkx.Blob{Data: view.NotNil(doc.Preamble.Bytes)}
	}
	state := &domarkx.State{Headers: []domarkx.HeaderEntry{header}}
	for k, m := range doc.Conversation {
		e := edit.EntryOf(m, 0)
		e.ID = domarkx.DeriveID(uint32(k+1), []byte{byte(k)})
		state.Thread.Live = append(state.Thread.Live, e)
	}
	return state
}

func viewOf(t *testing.T, state *domarkx.State) *view.View {
	t.Helper()
	v, err := view.New(t.Context(), files{}, state)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func written(t *testing.T, v *view.View) string {
	t.Helper()
	var b bytes.Buffer
	if err := v.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if v.Size() != int64(b.Len()) {
		t.Errorf("the size is %d, written are %d bytes", v.Size(), b.Len())
	}
	return b.String()
}

const asWritten = "---\ntitle:  T\n---\n\n# Notes\n\n## User\nHi\n\n## assistant\n\nHello.\n\n## user\n\n```sh\nls\n```"

// TestShownAsWritten: a document is shown with the bytes of its author, and reads only as itself.
func TestShownAsWritten(t *testing.T) {
	v := viewOf(t, stateOf(t, asWritten))
	if got := written(t, v); got != asWritten {
		t.Errorf("shown as %q", got)
	}
	for text, want := range map[string]bool{asWritten: true, asWritten + "\n": false, strings.Replace(asWritten, "Hello", "HELLO", 1): false, "": false} {
		if got, err := v.Reads(t.Context(), []byte(text)); got != want || err != nil {
			t.Errorf("reads as %.20q: %t, %v", text, got, err)
		}
	}
	if got, err := (*view.View)(nil).Reads(t.Context(), nil); got || err != nil {
		t.Errorf("a view that is nil reads as nothing: %t, %v", got, err)
	}
	doc, err := markdown.Decode(format.Source{Data: []byte(asWritten)})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range doc.Conversation {
		got, err := v.Written(t.Context(), k)
		if err != nil || !got.Message.Equal(want.Message) || got.Layout != want.Layout || !bytes.Equal(got.Bytes, want.Bytes) {
			t.Errorf("message %d is written as %q, want %q, %v", k, got.Bytes, want.Bytes, err)
		}
	}
	again := viewOf(t, v.State())
	if got := written(t, again); got != asWritten {
		t.Errorf("the state of the view is shown as %q", got)
	}
}

// TestKeys: pieces with the same bytes and meaning have the same keys.
func TestKeys(t *testing.T) {
	keys := func(text string) []domarkx.Key {
		all, err := viewOf(t, stateOf(t, text)).Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	a := keys("## user\n\nHi\n\n## assistant\n\nHello\n")
	b := keys("## user\n\nHi\n\n## assistant\n\nHello!\n")
	if len(a) != 3 || a[0] != b[0] || a[1] != b[1] || a[2] == b[2] {
		t.Errorf("the keys are %v and %v", a, b)
	}
	open, closed := keys("## user\n\nHi\n\n## assistant\n\n```\nx"), keys("## user\n\nHi\n\n## assistant\n\n```\nx\n```\n")
	if open[2] == closed[2] {
		t.Error("a fence that was not closed is one that was")
	}
}

// TestConflicts: each side of a conflict is shown, with its name.
func TestConflicts(t *testing.T) {
	state := stateOf(t, "## user\n\nHi\n\n## assistant\n\nOurs\n\n## assistant\n\nTheirs\n\n## user\n\nBye\n")
	live := state.Thread.Live
	live[2].ID = live[1].ID
	live[1].Rev, live[2].Rev = domarkx.Rev{1}, domarkx.Rev{2}
	other := state.Headers[0]
	other.JSON, other.Rev = domarkx.Blob{Data: []byte(`{"metadata": {"user_metadata": {"title": "Theirs"}}}`)}, domarkx.Rev{3}
	state.Headers = append(state.Headers, other)
	v := viewOf(t, state)
	var sides []string
	for k := range live {
		m, err := v.Message(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		side := ""
		if m.Metadata != nil {
			conflict, _ := m.Metadata.Get("conflict")
			side = conflict.Text()
		}
		sides = append(sides, side)
	}
	if diff := cmp.Diff([]string{"", "0100000000000000", "0200000000000000", ""}, sides); diff != "" {
		t.Errorf("sides (-want +got):\n%s", diff)
	}
	h, err := v.Header(t.Context())
	if err != nil || len(h.MetadataExtra) != 1 || h.MetadataExtra[0].Value.JSON() != `[{"side":"0300000000000000","header":{"metadata":{"user_metadata":{"title":"Theirs"}}}}]` {
		t.Errorf("the header has %v, %v", h.MetadataExtra, err)
	}
	text := written(t, v)
	for _, want := range []string{"Ours", "Theirs", "0100000000000000", "0300000000000000"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := markdown.Decode(format.Source{Data: []byte(text)}); err != nil {
		t.Errorf("a document with conflicts cannot be read: %v", err)
	}
}

// TestDamage: whatever does not have the digest that was recorded is reported, and never shown.
func TestDamage(t *testing.T) {
	for _, test := range []struct {
		name, want string
		damage     func(s *domarkx.State)
	}{
		{"the preamble", "preamble is ", func(s *domarkx.State) { s.Headers[0].Source.Data = []byte("---\ntitle: evil\n---\n") }},
		{"a message as written", "message 0 (", func(s *domarkx.State) { s.Thread.Live[0].Source.Data = []byte("## User\nEvil\n") }},
		{"a canonical message", "message 1 (", func(s *domarkx.State) {
			s.Thread.Live[1].JSON.Data = bytes.Replace(s.Thread.Live[1].JSON.Data, []byte("Hello"), []byte("Evil"), 1)
		}},
		{"a canonical message that is not JSON", "message " + domarkx.DeriveID(2, []byte{1}).String() + " ", func(s *domarkx.State) { s.Thread.Live[1].JSON.Data = []byte("{") }},
		{"a canonical message that is not a message", "message " + domarkx.DeriveID(2, []byte{1}).String() + " ", func(s *domarkx.State) { s.Thread.Live[1].JSON.Data = []byte(`{"role": "tool"}`) }},
	} {
		state := stateOf(t, asWritten)
		test.damage(state)
		v := viewOf(t, state)
		err := v.Write(t.Context(), &bytes.Buffer{})
		if !errors.Is(err, domarkx.ErrCorrupt) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		if _, err := v.Says(t.Context(), jsonvalue.ObjectValue()); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %v from Says", test.name, err)
		}
	}
	for name, json := range map[string]string{"not JSON": "{", "not a header": `{"metadata": 5}`} {
		headers := []domarkx.HeaderEntry{{JSON: domarkx.Blob{Data: []byte(json)}}}
		if _, err := view.LoadHeader(t.Context(), files{}, headers); !errors.Is(err, domarkx.ErrCorrupt) || !strings.HasPrefix(err.Error(), "snapshot.json ") {
			t.Errorf("a header that is %s: %v", name, err)
		}
	}
}

// TestUnreadable: an error of the store is returned as it is.
func TestUnreadable(t *testing.T) {
	lost := domarkx.Blob{ID: "lost"}
	for name, lose := range map[string]func(s *domarkx.State){
		"the preamble":         func(s *domarkx.State) { s.Headers[0].Source = lost },
		"a message":            func(s *domarkx.State) { s.Thread.Live[1].JSON = lost },
		"a message's bytes":    func(s *domarkx.State) { s.Thread.Live[0].Source = lost },
		"the last one's":       func(s *domarkx.State) { s.Thread.Live[2].Source = lost },
		"the included files":   func(s *domarkx.State) { s.Headers[0].Includes = "lost" },
		"a conflicting one":    func(s *domarkx.State) { s.Thread.Live[1].ID = s.Thread.Live[0].ID; s.Thread.Live[1].JSON = lost },
		"a conflicting header": func(s *domarkx.State) { s.Headers = append(s.Headers, domarkx.HeaderEntry{JSON: lost}) },
	} {
		state := stateOf(t, asWritten)
		lose(state)
		v, err := view.New(t.Context(), files{}, state)
		if err == nil {
			err = v.Write(t.Context(), &bytes.Buffer{})
		}
		if !errors.Is(err, formattest.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v := viewOf(t, stateOf(t, asWritten))
	for _, room := range []int{0, 20, len(asWritten) - 1} {
		out := formattest.FailingWriter(room)
		if err := v.Write(t.Context(), &out); !errors.Is(err, formattest.ErrBroken) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

// TestSays: whether a document has a configuration of its workspace.
func TestSays(t *testing.T) {
	workspace, err := jsonvalue.ParseValue([]byte(`{"resources": []}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"```workspace-config\nresources: []\n```\n\n## user\n\nHi\n":                          true,
		"```workspace-config\nresources: [{type: filesystem, id: f}]\n```\n\n## user\n\nHi\n": false,
		"## user\n\nHi\n": false,
		"## user\n\n```workspace-config\nresources: []\n```\n": true,
	} {
		if got, err := viewOf(t, stateOf(t, text)).Says(t.Context(), workspace); got != want || err != nil {
			t.Errorf("%q: %t, %v", text, got, err)
		}
	}
}

// TestStoredInclude: only files that were stored with the snapshot are read.
func TestStoredInclude(t *testing.T) {
	include := view.StoredInclude([]domarkx.Include{{Path: "a.md", Data: []byte("A")}})
	if data, err := include("a.md"); string(data) != "A" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := include("../etc/passwd"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("another file: %v", err)
	}
}

// TestLines: the first line of a message, and the beginning of its text.
func TestLines(t *testing.T) {
	text := func(s string) domarkx.Block { return domarkx.Block{Type: domarkx.TextBlock, Text: s} }
	code := func(language, s string) domarkx.Block {
		return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Text: s}
	}
	for _, test := range []struct {
		name          string
		blocks        []domarkx.Block
		line, preview string
	}{
		{"nothing", nil, "", ""},
		{"text", []domarkx.Block{text("\n  one  \ntwo")}, "one", ""},
		{"a thought and text", []domarkx.Block{code("thought", "hm\nwell"), text("one")}, "one", ""},
		{"thoughts alone", []domarkx.Block{code("thought", "\nhm\nwell"), code("thought", "so")}, "hm", ""},
		{"a call", []domarkx.Block{code("thought", "hm"), code("tool-call", `{"resource": "r", "tool": "Bash", "arguments": {"timeout": 5, "command": "ls -l\npwd"}}`)}, "Bash ls -l", ""},
		{"a call without arguments", []domarkx.Block{code("tool-call", `{"resource": "r", "tool": "status"}`)}, "status", ""},
		{"no call", []domarkx.Block{code("tool-call", "{oops")}, "{oops", ""},
		{"code", []domarkx.Block{code("sh", "ls -l\n")}, "ls -l", "```sh"},
		{"text and code", []domarkx.Block{text("see"), code("sh", "ls")}, "see", "see"},
		{"long code", []domarkx.Block{text(strings.Repeat("x", 1000)), code("sh", "ls")}, strings.Repeat("x", 1000), "xxx"},
	} {
		m := domarkx.Message{Role: domarkx.Assistant, Content: test.blocks}
		if got := view.FirstLine(m); got != test.line {
			t.Errorf("%s: the first line is %q, want %q", test.name, got, test.line)
		}
		if got := view.Preview(m); !strings.HasPrefix(got, test.preview) || len(got) > 300 {
			t.Errorf("%s: the preview is %q, want %q", test.name, got, test.preview)
		}
	}
}
