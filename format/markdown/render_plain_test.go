package markdown_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
)

// TestPlainMessagesReadAsThemselves tries messages of texts that mark up much, but
// begin nothing: their rendering is not read again when it is made.
func TestPlainMessagesReadAsThemselves(t *testing.T) {
	pieces := []string{"a", "b.", "1", "\n", "\n\n", "\n\n\n", " ", "    ", "\n- ", "\n1. ", "\n* ", "\n+ ", "\n---\n", "\n===\n", "\n***\n", ": ", "\"", "- a\n\n      b", "é", "user", "(", ")", "!", "_x_", "  \n", "\n  - ", "\n    1) ",
		"`", "``", "\n```\n", "\n~~~", "\n- ```\n  x", "> ", "\n> ", "\n>> - ", "\n# ", "\n## ", "\n### user", "\n## user", "\n \\## user", "\n- ## user", "## user ##", "#", "\\", "\n\\", "[x](y)", "[include](", "\n[include](x.md)",
		"\n\\[include](x)", "\n> [Include](x)", "<!--", "\n<pre>\n", "|", "&amp;", "\t", "\n\t", "\v", "\f", "~~x~~", "\n[a]: b", "\u0085", "\u2028", "\ufeff"}
	text := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"a", "", "- "}).Draw(t, "begin") + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), "") + rapid.SampledFrom([]string{"z", ""}).Draw(t, "end")
	})
	language := rapid.SampledFrom([]string{"", "go", "text", "tool-call", "thought", "json", "msg-metadata", "session-config", "setup-script", "domarkx-message", "c_1", "1"})
	rapid.Check(t, func(t *rapid.T) {
		m := domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{}}
		if rapid.Bool().Draw(t, "metadata") {
			v := jsonvalue.ObjectValue(jsonvalue.Member{Name: "a", Value: jsonvalue.StringValue(text.Draw(t, "value") + "\r\x00```")})
			m.Metadata = &v
		}
		for range rapid.IntRange(0, 4).Draw(t, "blocks") {
			b := domarkx.Block{Type: domarkx.TextBlock, Text: text.Draw(t, "text")}
			if rapid.Bool().Draw(t, "code") {
				b = domarkx.Block{Type: domarkx.CodeBlock, Language: language.Draw(t, "language"), Text: text.Draw(t, "code") + rapid.SampledFrom([]string{"", "\n", "\n```", "\n\n", "~~~", "\n## user", "\n[include](x)\n", "\n> x", "\n    x", "\n<!--"}).Draw(t, "end")}
			}
			m.Content = append(m.Content, b)
		}
		rendered := markdown.RenderMessage(m)
		read, err := markdown.ParseMessage(rendered)
		if err != nil || !read.Equal(m) {
			t.Fatalf("%v\n%s", err, rendered)
		}
		doc, err := markdown.Encode(&domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{{Message: m}, {Message: m}}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(doc), string(rendered)) {
			t.Fatalf("%s\nis not in\n%s", rendered, doc)
		}
	})
}
