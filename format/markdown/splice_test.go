package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

var result = domarkx.Block{Type: domarkx.CodeBlock, Language: "tool-result", Text: `{"ok":true}`}

func decodeText(t interface{ Fatal(...any) }, text string, include func(string) ([]byte, error)) *domarkx.Document {
	doc, err := markdown.Decode(format.Source{Data: []byte(text), Include: include})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func encodeText(t interface{ Fatal(...any) }, doc *domarkx.Document) string {
	data, err := markdown.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSpliceKeepsTheOtherBytes(t *testing.T) {
	const block = "```tool-result\n{\"ok\":true}\n```\n"
	for name, test := range map[string]struct {
		text  string
		at, n int
		want  string
	}{
		"canonical": {"## assistant\n\nhi\n\n```sh name=x\nls\n```\n\nbye\n", 2, 0, "## assistant\n\nhi\n\n```sh name=x\nls\n```\n\n" + block + "\nbye\n"},
		"tight":     {"##  Assistant ##\nhi\n```sh   name=x\nls\n```\nbye   \n", 2, 0, "##  Assistant ##\nhi\n```sh   name=x\nls\n```\n\n" + block + "bye   \n"},
		"no end":    {"##  assistant\n\n~~~~tool-call\n{}\n~~~~", 1, 0, "##  assistant\n\n~~~~tool-call\n{}\n~~~~\n\n" + block},
		"unclosed":  {"##  assistant\n\n````tool-call\n{}", 1, 0, "##  assistant\n\n````tool-call\n{}\n````\n\n" + block},
		"crlf":      {"## assistant\r\n\r\n```sh name=x\r\nls\r\n```\r\n\r\nbye\r\n", 1, 0, "## assistant\r\n\r\n```sh name=x\r\nls\r\n```\r\n\r\n" + strings.ReplaceAll(block, "\n", "\r\n") + "\r\nbye\r\n"},
		"quote":     {"## assistant\n\n> see\n\n```tool-call\n{}\n```\n\n\n", 2, 0, "## assistant\n\n> see\n\n```tool-call\n{}\n```\n\n" + block + "\n\n"},
		"metadata":  {"## assistant\n```json msg-metadata\n{}\n```\n```tool-call\n{}\n```\n", 1, 0, "## assistant\n```json msg-metadata\n{}\n```\n```tool-call\n{}\n```\n\n" + block},
		"replaced":  {"##   assistant\n\n```tool-call\n{}\n```\n\n```tool-result\nold\n```\n\nx\n", 1, 1, "##   assistant\n\n```tool-call\n{}\n```\n\n" + block + "\nx\n"},
		"second":    {"##   assistant\n```tool-call\n1\n```\n```tool-call\n2\n```\n", 2, 0, "##   assistant\n```tool-call\n1\n```\n```tool-call\n2\n```\n\n" + block},
		"first":     {"##   assistant\n```tool-call\n1\n```\n```tool-call\n2\n```\n", 1, 0, "##   assistant\n```tool-call\n1\n```\n\n" + block + "```tool-call\n2\n```\n"},
		"workspace": {"##   assistant\n```tool-call\n1\n```\n```workspace-config\nresources: [{type: x}]\n```\n```tool-result\nold\n```\n", 1, 1,
			"##   assistant\n```tool-call\n1\n```\n\n" + block + "```workspace-config\nresources: [{type: x}]\n```\n"},
	} {
		for where, around := range map[string][2]string{"alone": {"", ""}, "between": {"## user\n\nu\n\n", "\n## user\n\nnext\n"}} {
			if where == "between" && (name == "no end" || name == "unclosed") {
				continue
			}
			t.Run(name+" "+where, func(t *testing.T) {
				doc := decodeText(t, around[0]+test.text+around[1], nil)
				k := 0
				if around[0] != "" {
					k = 1
				}
				doc.Conversation[k] = markdown.Splice(doc.Conversation[k], test.at, test.n, []domarkx.Block{result}, nil)
				want := around[0] + test.want + around[1]
				got := encodeText(t, doc)
				if got != want {
					t.Fatalf("got  %q\nwant %q", got, want)
				}
				again := decodeText(t, got, nil)
				if !again.Conversation[k].Equal(doc.Conversation[k].Message) {
					t.Errorf("it reads as %s", again.Conversation[k].Value().JSON())
				}
			})
		}
	}
}

// TestSpliceRemoves: without a block to insert, those that go are gone.
func TestSpliceRemoves(t *testing.T) {
	doc := decodeText(t, "##  assistant\n\n```tool-call\n1\n```\n\n```tool-result\nold\n```\n\nx\n", nil)
	doc.Conversation[0] = markdown.Splice(doc.Conversation[0], 1, 1, nil, nil)
	if got, want := encodeText(t, doc), "##  assistant\n\n```tool-call\n1\n```\n\nx\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSpliceOfWhatIsIncluded: a call from an included file gets its result in the
// canonical rendering.
func TestSpliceOfWhatIsIncluded(t *testing.T) {
	include := func(string) ([]byte, error) { return []byte("```tool-call\n1\n```\n"), nil }
	doc := decodeText(t, "## assistant\n\nhi\n\n[include](call.md)\n\nbye\n", include)
	doc.Conversation[0] = markdown.Splice(doc.Conversation[0], 2, 0, []domarkx.Block{result}, include)
	want := "## assistant\n\nhi\n\n```tool-call\n1\n```\n\n```tool-result\n{\"ok\":true}\n```\n\nbye\n"
	if got := encodeText(t, doc); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	text := "##  assistant\n\n[include](call.md)\n\n```tool-call\n2\n```\n"
	doc = decodeText(t, text, include)
	doc.Conversation[0] = markdown.Splice(doc.Conversation[0], 2, 0, []domarkx.Block{result}, include)
	if got, want := encodeText(t, doc), text+"\n```tool-result\n{\"ok\":true}\n```\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSpliceIsReadBack: whatever the document, a result behind any of its code
// blocks reads back, and all other messages are as they were.
func TestSpliceIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := document().Draw(t, "before") + "\n## assistant\n" + document().Draw(t, "head") +
			"\n```tool-call\n1\n```\n" + document().Draw(t, "tail")
		doc, err := markdown.Decode(format.Source{Data: []byte(text)})
		if err != nil || len(doc.Conversation) == 0 {
			t.Skip("no message")
		}
		type place struct{ message, block int }
		var code []place
		for k, m := range doc.Conversation {
			for i, b := range m.Content {
				if b.Type == domarkx.CodeBlock {
					code = append(code, place{k, i + 1})
				}
			}
		}
		if len(code) == 0 {
			t.Skip("no code")
		}
		chosen := rapid.SampledFrom(code).Draw(t, "block")
		k, at := chosen.message, chosen.block
		before := slices.Clone(doc.Conversation)
		doc.Conversation[k] = markdown.Splice(doc.Conversation[k], at, 0, []domarkx.Block{result}, nil)
		got := encodeText(t, doc)
		again := decodeText(t, got, nil)
		if len(again.Conversation) != len(before) {
			t.Fatalf("%q became %q", text, got)
		}
		for i, m := range again.Conversation {
			want := before[i].Message
			if i == k {
				want.Content = slices.Insert(slices.Clone(want.Content), at, result)
			}
			if !m.Equal(want) {
				t.Fatalf("message %d of %q reads as %s, want %s", i, got, m.Value().JSON(), want.Value().JSON())
			}
		}
	})
}
