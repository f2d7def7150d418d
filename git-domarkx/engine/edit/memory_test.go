package edit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

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

// contents are stored contents in memory, by their ids. Reading any other one fails.
type contents map[string][]byte

func (c contents) Read(_ context.Context, b domarkx.Blob) ([]byte, error) {
	if data, ok := c[b.ID]; ok {
		return data, nil
	}
	return nil, formattest.ErrBroken
}

func (c contents) Includes(context.Context, string) ([]domarkx.Include, error) {
	return nil, formattest.ErrBroken
}

func (c contents) Origin(context.Context, string) (*original.Document, error) {
	return nil, formattest.ErrBroken
}

var (
	v1 = strings.Repeat("1", 40)
	v2 = strings.Repeat("2", 40)
)

// says returns a message of the assistant. A link of the form "v=…" is stated by the document, as the JSON form does.
func says(text, states string) domarkx.WrittenMessage {
	m := domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: text}}}}
	if states != "" {
		m.Extra = []jsonvalue.Member{{Name: domarkx.WorkspaceVersion, Value: jsonvalue.StringValue(states)}}
	}
	return m
}

// based returns the view of a session in memory with these messages, and the links of the entries.
func based(t *testing.T, messages []domarkx.WrittenMessage, links ...string) *view.View {
	t.Helper()
	doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: messages}
	edit.Complete(doc)
	state := &domarkx.State{Headers: []domarkx.HeaderEntry{{JSON: domarkx.Blob{Data: view.PrettyJSON(doc.Header.Value())}, Layout: doc.Preamble.Layout}}}
	var after domarkx.ID
	for k, m := range doc.Conversation {
		e := edit.EntryOf(m, 100)
		e.ID, e.After = domarkx.DeriveID(uint32(k+1), []byte(fmt.Sprint(k))), after
		if k < len(links) {
			e.Link = links[k]
		}
		after = e.ID
		state.Thread.Live = append(state.Thread.Live, e)
	}
	v, err := view.New(t.Context(), contents{}, state)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// edited returns an edit of a base that makes messages the document.
func edited(base *view.View, messages ...domarkx.WrittenMessage) *edit.Edit {
	doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: messages}
	return edit.New(contents{}, base, doc, domarkx.Signature{When: time.Unix(200, 0)})
}

// shown returns the messages of a state: their texts, metadata and links.
func shown(t *testing.T, state *domarkx.State) []string {
	t.Helper()
	var all []string
	for _, e := range state.Thread.Live {
		m, err := view.LoadMessage(t.Context(), contents{}, e)
		if err != nil {
			t.Fatal(err)
		}
		said := m.Content[0].Text
		if m.Metadata != nil {
			said += " " + m.Metadata.JSON()
		}
		for _, extra := range m.Extra {
			said += " +" + extra.Name
		}
		if e.Link != "" {
			said += " @" + e.Link[:1]
		}
		all = append(all, said)
	}
	return all
}

func apply(t *testing.T, e *edit.Edit) (*domarkx.State, bool) {
	t.Helper()
	state, changed, err := e.Apply(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return state, changed
}

// TestStatedLinks: a version that a document states becomes a link if it is one of the workspace, and stays text
// otherwise.
func TestStatedLinks(t *testing.T) {
	asMetadata := func(text, version string) domarkx.WrittenMessage {
		m := says(text, "")
		metadata := jsonvalue.ObjectValue(jsonvalue.Member{Name: domarkx.WorkspaceVersion, Value: jsonvalue.StringValue(version)})
		m.Metadata = &metadata
		return m
	}
	for _, test := range []struct {
		name     string
		base     *view.View
		doc      []domarkx.WrittenMessage
		allowed  map[string]bool // nil: the user did not ask for links
		want     []string
		links    []string // the new ones
		warnings int
	}{
		{"nobody asked", nil, []domarkx.WrittenMessage{says("a", v1)}, nil, []string{`a {"workspace_version":"` + v1 + `"}`}, nil, 0},
		{"a version of the workspace", nil, []domarkx.WrittenMessage{says("a", v1), says("b", v1)}, map[string]bool{v1: true}, []string{"a @1", "b @1"}, []string{v1}, 0},
		{"another version", nil, []domarkx.WrittenMessage{says("a", v2), says("b", v2), says("c", "x")}, map[string]bool{v1: true},
			[]string{`a {"workspace_version":"` + v2 + `"}`, `b {"workspace_version":"` + v2 + `"}`, `c {"workspace_version":"x"}`}, nil, 2},
		{"in the metadata", nil, []domarkx.WrittenMessage{asMetadata("a", v1)}, map[string]bool{v1: true}, []string{`a {"workspace_version":"` + v1 + `"} @1`}, []string{v1}, 0},
		{"the link that the message has", based(t, []domarkx.WrittenMessage{says("a", "")}, v1), []domarkx.WrittenMessage{says("a", v1)}, nil, []string{"a @1"}, nil, 0},
		{"the link of another message", based(t, []domarkx.WrittenMessage{says("a", ""), says("b", "")}, v1), []domarkx.WrittenMessage{says("a", v1), says("b", v1)}, nil,
			[]string{"a @1", `b {"workspace_version":"` + v1 + `"}`}, nil, 0},
		{"a message that is there gets its link", based(t, []domarkx.WrittenMessage{asMetadata("a", v1), says("b", "")}), []domarkx.WrittenMessage{asMetadata("a", v1), says("b", "")}, map[string]bool{v1: true},
			[]string{`a {"workspace_version":"` + v1 + `"} @1`, "b"}, []string{v1}, 0},
	} {
		e := edited(test.base, test.doc...)
		if test.allowed != nil {
			e.Stated = edit.NewStatedLinks("ws", test.allowed)
		}
		state, _ := apply(t, e)
		if diff := cmp.Diff(test.want, shown(t, state)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.links, e.NewLinks); diff != "" {
			t.Errorf("%s: new links (-want +got):\n%s", test.name, diff)
		}
		warnings := e.Stated.Warnings("doc.json")
		if len(warnings) != test.warnings {
			t.Errorf("%s: warnings %v", test.name, warnings)
		}
		for _, w := range warnings {
			if !strings.HasPrefix(w.Error(), "doc.json: message ") || !strings.Contains(w.Error(), `not a version of the workspace "ws"`) {
				t.Errorf("%s: %v", test.name, w)
			}
		}
	}
}

// TestLinker: messages that name files are linked, but for those that have a link.
func TestLinker(t *testing.T) {
	wants := &edit.Linker{Version: v2, Wants: func(m domarkx.Message) bool { return strings.Contains(m.Content[0].Text, "file") }}
	base := based(t, []domarkx.WrittenMessage{says("a file", ""), says("a file too", ""), says("none", "")}, v1)
	e := edited(base, says("a file", ""), says("a file too", ""), says("none", ""), says("another file", ""))
	e.Linker = wants
	state, changed := apply(t, e)
	if diff := cmp.Diff([]string{"a file @1", "a file too @2", "none", "another file @2"}, shown(t, state)); diff != "" || !changed {
		t.Errorf("changed %t (-want +got):\n%s", changed, diff)
	}
	if diff := cmp.Diff([]string{v2}, e.NewLinks); diff != "" {
		t.Errorf("new links (-want +got):\n%s", diff)
	}
	for k, entry := range state.Thread.Live[:3] {
		if entry.ID != base.Live.At(k).ID || entry.Date != 100 {
			t.Errorf("message %d is another one: %+v", k, entry)
		}
	}
	same := edited(based(t, []domarkx.WrittenMessage{says("a file", "")}, v1), says("a file", ""))
	same.Linker = wants
	if _, changed := apply(t, same); changed {
		t.Error("a linked message was changed")
	}
}

// TestEditedLinks: the link of a message stays while its calls stay the same.
func TestEditedLinks(t *testing.T) {
	call := func(command, more string) domarkx.WrittenMessage {
		m := says("I run it."+long+more, "")
		m.Content = append(m.Content, domarkx.Block{Type: domarkx.CodeBlock, Language: "tool-call", Text: `{"resource": "shell", "tool": "run", "arguments": {"command": "` + command + `"}}`},
			domarkx.Block{Type: domarkx.CodeBlock, Language: "tool-result", Text: `{"ok": true, "result": "x"}`})
		return m
	}
	first := says("First."+long, "")
	for name, test := range map[string]struct {
		doc  []domarkx.WrittenMessage
		want string // the links
	}{
		"its text is edited":   {[]domarkx.WrittenMessage{first, call("ls", " Indeed.")}, "[ 1]"},
		"its call is edited":   {[]domarkx.WrittenMessage{first, call("rm", "")}, "[ ]"},
		"it is moved":          {[]domarkx.WrittenMessage{call("ls", ""), first}, "[1 ]"},
		"it is there twice":    {[]domarkx.WrittenMessage{first, call("ls", ""), call("ls", "")}, "[ 1 ]"},
		"it is removed":        {[]domarkx.WrittenMessage{first}, "[]"},
		"one comes before it":  {[]domarkx.WrittenMessage{says("New.", ""), first, call("ls", "")}, "[  1]"},
		"it states its link":   {[]domarkx.WrittenMessage{first, func() domarkx.WrittenMessage { m := call("ls", ""); m.Extra = says("", v1).Extra; return m }()}, "[ 1]"},
		"another call, stated": {[]domarkx.WrittenMessage{first, func() domarkx.WrittenMessage { m := call("rm", ""); m.Extra = says("", v1).Extra; return m }()}, "[ ]"},
	} {
		base := based(t, []domarkx.WrittenMessage{first, call("ls", "")}, "", v1)
		state, _ := apply(t, edited(base, test.doc...))
		var links []string
		for _, e := range state.Thread.Live {
			links = append(links, e.Link[:min(1, len(e.Link))])
		}
		if got := fmt.Sprint(links); got != test.want {
			t.Errorf("%s: the links are %s, want %s", name, got, test.want)
		}
		for _, d := range state.Thread.Dead {
			for _, e := range state.Thread.Live {
				if d.ID == e.ID {
					t.Errorf("%s: a message is both there and removed", name)
				}
			}
		}
	}
}

// TestDerivedIDs: importing the same document twice gives the same messages, and an edit new ones.
func TestDerivedIDs(t *testing.T) {
	made := func(derived bool, origin string) string {
		m := says("a", "")
		m.Origin = origin
		e := edited(nil, m, says("b", ""))
		e.Derived = derived
		state, _ := apply(t, e)
		return fmt.Sprint(state.Thread.Live[0].ID, state.Thread.Live[1].ID)
	}
	plain, named, underived := made(true, ""), made(true, "o"), made(false, "")
	for _, test := range []struct {
		derived bool
		origin  string
		want    string
		same    bool
	}{
		{true, "", plain, true}, {true, "o", named, true},
		{true, "p", named, false}, {true, "o", plain, false}, {false, "", underived, false},
	} {
		if same := made(test.derived, test.origin) == test.want; same != test.same {
			t.Errorf("derived %t, origin %q: same messages %t, want %t", test.derived, test.origin, same, test.same)
		}
	}
}

// TestErrors: an error of the store or of the document ends the edit.
func TestErrors(t *testing.T) {
	texts := []domarkx.WrittenMessage{says("One."+long, ""), says("Two."+long, "")}
	lost := based(t, texts, v1)
	lost.Live.(domarkx.EntryList)[0].JSON = domarkx.Blob{ID: "lost"}
	for name, e := range map[string]*edit.Edit{
		"a message of the base": edited(lost, says("One, edited."+long, ""), says("Two."+long, "")),
		"a linked message":      edited(lost, says("One."+long, v1)),
		"a moved message":       edited(lost, says("Two."+long, ""), says("New.", "")),
	} {
		if _, _, err := e.Apply(t.Context(), nil); !errors.Is(err, formattest.ErrBroken) {
			t.Errorf("%s cannot be read: %v", name, err)
		}
	}
	for k := range 2 {
		e := edited(based(t, texts[:1]), says("", ""))
		e.Doc.Conversation = nil
		e.Messages = formattest.FailingMessages{Messages: format.Conversation(texts), K: k}
		if _, _, err := e.Apply(t.Context(), nil); !errors.Is(err, formattest.ErrBroken) {
			t.Errorf("message %d of the document cannot be read: %v", k, err)
		}
	}
	deep := says("deep", "")
	metadata := value(t, strings.Repeat(`{"a":`, jsonvalue.MaxDepth-1)+"1"+strings.Repeat("}", jsonvalue.MaxDepth-1))
	deep.Metadata = &metadata
	if _, _, err := edited(nil, deep).Apply(t.Context(), nil); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a message that is nested too deeply: %v", err)
	}
	header := edited(nil, says("x", ""))
	header.Doc.Header.UserMetadata = &metadata
	if _, _, err := header.Apply(t.Context(), nil); !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), "front matter") {
		t.Errorf("a header that is nested too deeply: %v", err)
	}
}

// TestHeaders: an edit of the header is a new one, and a file that is saved as it was shown is not.
func TestHeaders(t *testing.T) {
	base := based(t, []domarkx.WrittenMessage{says("a", "")})
	e := edited(base, says("a", ""))
	if state, changed := apply(t, e); changed || len(state.Headers) != 1 {
		t.Errorf("nothing changed: %t, %d headers", changed, len(state.Headers))
	}
	e = edited(base, says("a", ""))
	title := value(t, `{"title": "T"}`)
	e.Doc.Header.UserMetadata = &title
	state, changed := apply(t, e)
	if !changed || !strings.Contains(string(state.Headers[0].JSON.Data), `"title": "T"`) {
		t.Errorf("a title was added: %t, %s", changed, state.Headers[0].JSON.Data)
	}
	doc, err := markdown.Decode(format.Source{Data: []byte("---\ntitle:   T\n---\n\n## assistant\n\na\n")})
	if err != nil {
		t.Fatal(err)
	}
	e = edit.New(contents{}, base, doc, domarkx.Signature{When: time.Unix(200, 0)})
	if state, changed := apply(t, e); !changed || !state.Headers[0].Layout.Verbatim || !strings.Contains(string(state.Headers[0].Source.Data), "title:   T") {
		t.Errorf("as the author wrote it: %t, %q", changed, state.Headers[0].Source.Data)
	}
}
