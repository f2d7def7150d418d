package markdown_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
)

// oracle lists what CommonMark finds at top level after the first heading: the
// headings that begin messages, and the content of the fenced code blocks.
func oracle(source string) []string {
	src := []byte(source)
	var found []string
	for n := goldmark.DefaultParser().Parse(gmtext.NewReader(src)).FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			lines := n.Lines()
			if n.Level != 2 || lines.Len() != 1 {
				continue
			}
			at := lines.At(0)
			start := strings.LastIndexByte(source[:at.Start], '\n') + 1
			if !strings.HasPrefix(strings.TrimLeft(source[start:], " "), "#") {
				continue // setext
			}
			switch role := strings.ToLower(strings.TrimSpace(string(at.Value(src)))); role {
			case "user", "assistant", "system_message":
				found = append(found, "message "+strings.Replace(role, "system_message", "user", 1))
			}
		case *ast.FencedCodeBlock:
			code := ""
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				code += string(line.Value(src))
			}
			found = append(found, fmt.Sprintf("code %q", strings.TrimSuffix(code, "\n")))
		}
	}
	return found
}

// ours lists the same of what we read.
func ours(t interface{ Fatalf(string, ...any) }, source string) []string {
	doc, err := markdown.Decode(format.Source{Data: []byte(source)})
	if err != nil {
		t.Fatalf("%v in %q", err, source)
	}
	var found []string
	for _, m := range doc.Conversation {
		found = append(found, "message "+string(m.Role))
		for _, b := range m.Content {
			if b.Type == "code" {
				found = append(found, fmt.Sprintf("code %q", b.Text))
			}
		}
	}
	return found
}

// TestCommonMark: blocks at top level agree with CommonMark. HTML blocks are left
// out: they do not hide a heading from us (SPEC.md).
func TestCommonMark(t *testing.T) {
	for _, source := range []string{
		"## user\n- a\n  ## user\n## assistant\n",
		"## user\n- a\n\n  ## user\n\n## assistant\n",
		"## user\n- a\nlazy\n  ## user\n",
		"## user\n- a\n\nnot lazy\n  ## user\n",
		"## user\n1. a\n\n   ## user\n  ## assistant\n",
		"## user\n10. a\n\n   ## user\n",
		"## user\ntext\n2. a\n   ## user\n",
		"## user\ntext\n1. a\n   ## user\n",
		"## user\ntext\n-\n  ## user\n",
		"## user\n-\n  ## user\n",
		"## user\n-\n\n  ## user\n",
		"## user\n-    a\n     ## user\n    ## user\n",
		"## user\n-     a\n  ## user\n",
		"## user\n-\ta\n\t## user\n  ## user\n",
		"## user\n - a\n   ## user\n  ## user\n",
		"## user\n- - a\n    ## user\n  ## user\n",
		"## user\n- > a\nlazy\n  ## user\n",
		"## user\n- a\n  ```\n  ## user\n  ```\n  ## user\n",
		"## user\n- a\n  ```\n  x\n## user\n```\ncode\n```\n",
		"## user\n- a\n\n      ```\n  ```\n  x\n  ```\n",
		"## user\n- ```\n  ## user\n  ```\n\n```\ncode\n```\n",
		"## user\n* * *\n  ## user\n",
		"## user\n***\n  ## user\n",
		"## user\n- * * *\n  ## user\n",
		"## user\ntext\n---\n  ## user\n",
		"## user\ntext\n- \n  ## user\n",
		"## user\n> a\n## user\n> ## user\n",
		"## user\n> ```\n## user\n> ```\n",
		"## user\n> ```\n> ## user\n```\ncode\n```\n",
		"## user\n> - a\n  ## user\n",
		"## user\n>\t## user\n   > ## user\n    > ## user\n",
		"## user\n    ## user\n\t## user\n  \t## user\n   ## user\n",
		"## user\ntext\n    ## user\n",
		"## user\ntext\n## assistant\ntext\n",
		"## user\n```\n## user\n```\n",
		"## user\n````\n```\n## user\n```\n````\n",
		"## user\n```\n````\n## user\n",
		"## user\n```\n~~~\n## user\n```\n",
		"## user\n~~~ ` x\n## user\n~~~~\n",
		"## user\n``` a`b\n## user\n",
		"## user\n```\n    ```\n## user\n",
		"## user\n```\n``` x\n## user\n```  \n",
		"## user\n   ```\n   a\n     b\n c\n  ```\nx\n",
		"## user\n    ```\n## user\n",
		"## user\ntext\n```\ncode\n```\ntext\n",
		"## user\n```\nopen\n\n",
		"## user\n```",
		"## user\n##user\n##\tuser\n## user ##\n## user ## \n## user #x\n## user#\n## \n##\n### user\n# user\n",
		"## user\nuser\n---\nassistant\n===\n",
		"## USER\n## System_Message\n##   aSSistant   ###   \n",
		"## *user*\n## `user`\n## user x\n",
		"## user\n* a\n+ b\n  ## user\n- c\n## user\n",
		"## user\n1) a\n2. b\n   ## user\n",
		"## user\n1234567890. a\n   ## user\n",
		"## user\n123456789. a\n           ## user\n          ## assistant\n",
		"## user\n- a\n\n\n  b\n  ## user\n\n\n## user\n",
		"## user\n-   \n    ## user\n",
		"## user\n- a\n > b\nlazy\n  ## user\n",
		"## user\n\\## user\n",
		"## user\n| a |\n|---|\n| ## user |\n",
	} {
		if got, want := ours(t, source), oracle(source); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q:\ngot  %q\nwant %q", source, got, want)
		}
	}
}

// TestCommonMarkAnywhere: so does any mix of lines. List items that begin with a
// blank line are in the table above only: goldmark itself errs on nested ones.
func TestCommonMarkAnywhere(t *testing.T) {
	starts := []string{"", "", "", " ", "  ", "   ", "    ", "\t", "> ", ">", "- a ", "- ", "1. ", "2. b\n", "10) ", "-\t", "> - "}
	rests := []string{"", "a", "## user", "## assistant", "```", "````", "~~~", "```x", "***", "---", "===", "# h", "\\## user"}
	rapid.Check(t, func(t *rapid.T) {
		source := "## user\n"
		for range rapid.IntRange(1, 10).Draw(t, "lines") {
			for range rapid.IntRange(1, 2).Draw(t, "starts") {
				source += rapid.SampledFrom(starts).Draw(t, "start")
			}
			source += rapid.SampledFrom(rests).Draw(t, "rest") + "\n"
		}
		if emptyItem.MatchString(source) {
			return
		}
		if got, want := kinds(ours(t, source)), kinds(oracle(source)); got != want {
			t.Fatalf("%q:\ngot  %s\nwant %s", source, got, want)
		}
	})
}

var emptyItem = regexp.MustCompile(`(?m)([-]|[0-9][.)])[ \t]*$`)

// kinds leaves out the code: goldmark keeps blanks of blank lines that are to go.
func kinds(found []string) string {
	for i, f := range found {
		if strings.HasPrefix(f, "code") {
			found[i] = "code"
		}
	}
	return strings.Join(found, ", ")
}
