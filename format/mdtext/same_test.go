package mdtext_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
)

func text(s string) domarkx.Block { return domarkx.Block{Type: domarkx.TextBlock, Text: s} }

func code(language, s string) domarkx.Block {
	return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Text: s}
}

// TestJoin: glue is used only as long as it fits the blocks, which an edit may have changed.
func TestJoin(t *testing.T) {
	const look = "Look:\n```go\nx\n```\nAnd on."
	blocks, glue := mdtext.Split(look)
	for _, test := range []struct {
		name   string
		blocks []domarkx.Block
		glue   []string
		want   string
	}{
		{"as it was", blocks, glue, look},
		{"without glue", blocks, nil, "Look:\n\n```go\nx\n```\n\nAnd on."},
		{"too little glue", blocks, glue[1:], "Look:\n\n```go\nx\n```\n\nAnd on."},
		{"an edited text", []domarkx.Block{text("See:"), blocks[1], blocks[2]}, glue, "See:\n```go\nx\n```\nAnd on."},
		{"an edited language, which the glue has", []domarkx.Block{blocks[0], code("c", "x"), blocks[2]}, glue, "Look:\n\n```c\nx\n```\n\nAnd on."},
		{"code that would end its fence", []domarkx.Block{blocks[0], code("go", "x\n```\ny"), blocks[2]}, glue, "Look:\n\n````go\nx\n```\ny\n````\n\nAnd on."},
		{"hostile glue", []domarkx.Block{text("a")}, []string{"```sh\n", "\n```"}, "a"},
		{"no blocks", nil, nil, ""},
	} {
		got := mdtext.Join(test.blocks, test.glue)
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if !mdtext.ReadsAs(got, test.blocks) {
			t.Errorf("%s: %q reads as other blocks", test.name, got)
		}
	}
}

// TestReadsAs: text reads as its own blocks and no others.
func TestReadsAs(t *testing.T) {
	named := code("go", "x")
	named.HasName, named.Name = true, "n"
	extra := text("a")
	extra.Extra = []jsonvalue.Member{{Name: "x", Value: jsonvalue.NumberValue("1")}}
	for _, test := range []struct {
		content string
		blocks  []domarkx.Block
		want    bool
	}{
		{"a", []domarkx.Block{text("a")}, true},
		{"a", []domarkx.Block{extra}, true},
		{"a", []domarkx.Block{text("b")}, false},
		{"a", nil, false},
		{"```go\nx\n```", []domarkx.Block{code("go", "x")}, true},
		{"```go\nx\n```", []domarkx.Block{code("c", "x")}, false},
		{"```go\nx\n```", []domarkx.Block{named}, false},
		{"```go name=n\nx\n```", []domarkx.Block{named}, true},
		{"```go\nx\n```", []domarkx.Block{text("```go\nx\n```")}, false},
		{"\xff", []domarkx.Block{text("\xff")}, true},
		{"\xff", []domarkx.Block{text("\xfe")}, false},
		{"\xff", []domarkx.Block{code("", "\xff")}, false},
	} {
		if got := mdtext.ReadsAs(test.content, test.blocks); got != test.want {
			t.Errorf("%q reads as %v: %t", test.content, test.blocks, got)
		}
	}
}
