package markdown_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
)

// large makes a document of so many messages of a kilobyte each.
func large(messages int) []byte {
	var b bytes.Buffer
	for i := range messages {
		fmt.Fprintf(&b, "## %s\n\n", []string{"user", "assistant"}[i%2])
		for range 8 {
			b.WriteString("Some words that a message is made of, some more than usual here, and a `span` of code, too.\n")
		}
		fmt.Fprintf(&b, "\n```bash name=run-%d\nls -la\n```\n\n- a list\n  - of items\n\n", i)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func BenchmarkDecode(b *testing.B) {
	for name, data := range map[string][]byte{
		"messages=100000": large(100_000),
		"line=100MB":      []byte("## user\n\n" + strings.Repeat("word ", 20<<20) + "\n"),
		"list=100MB":      []byte("## user\n\n" + strings.Repeat("- item\n  > quote\n", 6<<20) + "\n"),
		"brackets=100MB":  []byte("## user\n\n" + strings.Repeat("[include](", 10<<20) + "\n"),
		"quotes=10MB":     []byte("## user\n\n" + strings.Repeat(strings.Repeat("> ", 5000)+"\n", 1<<10) + "\n"),
		"items=10MB":      []byte("## user\n\n" + strings.Repeat("- ", 5000) + "a\n" + strings.Repeat("\n", 10<<20)),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := markdown.Decode(format.Source{Data: data}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRenderMessage(b *testing.B) {
	doc, err := markdown.Decode(format.Source{Data: large(1)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		markdown.RenderMessage(doc.Conversation[0].Message)
	}
}
