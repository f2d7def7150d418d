package view_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSizeOfLongDocuments: the recorded size of a document equals the length of its Markdown,
// regardless of how its author wrote it and where measuring splits it. Showing the document
// compares the two.
func TestSizeOfLongDocuments(t *testing.T) {
	for name, form := range map[string][]string{
		"canonical":     {"\n## user\n\nMessage %d.\n"},
		"tight":         {"## user\nMessage %d.\n", "\n## user\n\nMessage %d.\n"},
		"CRLF":          {"\r\n##  User ##\r\n\r\nMessage %d.\r\n", "\n## user\n\nMessage %d.\n"},
		"blank lines":   {"\n\n\n## user\nMessage %d.\n\n\n"},
		"several parts": {"\n## assistant\n\nMessage %d.\n\n```go\n## user\n```\n\nMore.\n"},
	} {
		var b strings.Builder
		for i := range 1300 {
			fmt.Fprintf(&b, form[i%len(form)], i)
		}
		text := strings.TrimLeft(b.String(), "\r\n")
		c := newClone(t)
		c.ImportFile(c.WriteFile("s.md", text))
		if got := c.Shown("s"); got != text {
			t.Errorf("%s: shown as %d bytes, expected %d", name, len(got), len(text))
		}
		c.ImportFile(c.WriteFile("s.md", strings.Replace(text, "Message 700.", "Message 700, changed.", 1)+"\n## user\n\n```\nopen"))
		if !strings.HasSuffix(c.Shown("s"), "\n```\nopen") {
			t.Errorf("%s: the end was lost", name)
		}
		c.Appended("s", "More")
		c.Shown("s")
	}
}

// TestSizeWithIncludes: messages from the same include are measured together.
func TestSizeWithIncludes(t *testing.T) {
	c := newClone(t)
	var part strings.Builder
	for i := range 700 {
		fmt.Fprintf(&part, "## %s\n\nIncluded %d.\n\n", []string{"user", "assistant"}[i%2], i)
	}
	c.WriteFile("part.md", part.String())
	text := "## user\n\nBefore.\n\n[include](part.md)\n\n## user\n\nAfter.\n"
	c.ImportFile(c.WriteFile("s.md", text))
	if got := c.Shown("s"); got != text {
		t.Errorf("shown as:\n%s", got)
	}
}
