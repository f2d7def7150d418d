package markdown_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

func TestParseContent(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `[]`},
		{" \n\n", `[]`},
		{"hi", `[{"type":"text","value":"hi"}]`},
		{"\r\nhi\r\nyou\r\n", `[{"type":"text","value":"hi\nyou"}]`},
		{"a\n```sh name=x\nls\n```\nb", `[{"type":"text","value":"a"},{"type":"code","language":"sh","name":"x","code":"ls"},{"type":"text","value":"b"}]`},
		{"```sh\nls", `[{"type":"code","language":"sh","code":"ls"}]`},
		{"## user\n\n## assistant\n[include](x)\n\\## user\n", `[{"type":"text","value":"## user\n\n## assistant\n[include](x)\n\\## user"}]`},
		{"> quoted", `[{"type":"text","value":"> quoted"}]`},
		{"---\na: 1\n---\n", `[{"type":"text","value":"---\na: 1\n---"}]`},
		{"```msg-metadata\n{\n```", `[{"type":"code","language":"msg-metadata","code":"{"}]`},
		{"```workspace-config\n```", `[{"type":"code","language":"workspace-config","code":""}]`},
	} {
		blocks, err := markdown.ParseContent(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		content, _ := domarkx.Message{Content: blocks}.Value().Get("content")
		if got := content.JSON(); got != test.want {
			t.Errorf("%q:\ngot  %s\nwant %s", test.text, got, test.want)
		}
	}
	if _, err := markdown.ParseContent("a\xff"); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}

// TestParseContentIsOneMessage: whatever the text, it is the content of one
// message, and stays that.
func TestParseContentIsOneMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks, err := markdown.ParseContent(document().Filter(isUTF8).Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		m := domarkx.Message{Role: domarkx.User, Content: blocks}
		body := markdown.RenderMessage(m)
		if read, err := markdown.ParseMessage(body); err != nil || !read.Equal(m) {
			t.Fatalf("%q reads as %s, %v", body, read.Value().JSON(), err)
		}
	})
}

// Content without code is not scanned; it reads as it does before code, when it is.
func TestParseContentWithoutCode(t *testing.T) {
	code := domarkx.Block{Type: domarkx.CodeBlock, Language: "x", Text: "y"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"", " ", "\t", "\n", "\n\n", "a", "b c", "> q", "- i", "1. j", "    k", "``z", "\u0085", "\\"}), 0, 8).Draw(t, "pieces"), "")
		got, err := markdown.ParseContent(text)
		if err != nil {
			t.Fatal(err)
		}
		scanned, err := markdown.ParseContent(text + "\n\n```x\ny\n```")
		if err != nil {
			t.Fatal(err)
		}
		if want := (domarkx.Message{Content: scanned}); !want.Equal(domarkx.Message{Content: append(got, code)}) {
			t.Fatalf("%q: got %v, want %v and code", text, got, scanned)
		}
	})
}
