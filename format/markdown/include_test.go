package markdown_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// directory is a document's directory.
type directory map[string]string

func (f directory) read(name string) ([]byte, error) {
	data, ok := f[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
	return []byte(data), nil
}

func (f directory) decode(text string) (*domarkx.Document, error) {
	return markdown.Decode(format.Source{Path: "notes/s.md", Data: []byte(text), Include: f.read})
}

func TestInclude(t *testing.T) {
	files := directory{
		"a.md":            "one\ntwo\n",
		"crlf.txt":        "\ufeffone\r\ntwo\r\n",
		"empty.md":        "",
		"run.py":          "print(1)\nprint(2)",
		"talk.md":         "---\ntitle: T\n---\n\n## user\n```msg-metadata\n{}\n```\n> asked\n\n## assistant\nsaid\n\n```sh name=x\nls\n```\n\n## user\n\\## user\n\\[include](a.md)\n",
		"sub/b.md":        "[include](c.md)\nb\n[include](deep/d.md)\n",
		"sub/c.md":        "c\n\n## assistant\n\nanswer\n",
		"sub/deep/d.md":   "  [Include](e f.md)  \n",
		"sub/deep/e f.md": "e\nf\n",
		"open.md":         "```sh\nls\n",
	}
	for _, test := range []struct {
		name, text, want string
		includes         []string
	}{
		{"lines", "## user\nx\n[include](a.md)\ny\n", `{"role":"user","content":[{"type":"text","value":"x\none\ntwo\ny"}]}`, []string{"a.md"}},
		{"upper case, blanks, last line", "## user\n[INCLUDE]( a.md )  ", `{"role":"user","content":[{"type":"text","value":"one\ntwo"}]}`, []string{"a.md"}},
		{"not alone on its line", "## user\nx [include](a.md)\n[include](a.md) x\n[include]()\n![include](a.md)\n", `{"role":"user","content":[{"type":"text","value":"x [include](a.md)\n[include](a.md) x\n[include]()\n![include](a.md)"}]}`, nil},
		{"CRLF and BOM", "## user\r\n[include](crlf.txt)\r\nx\r\n", `{"role":"user","content":[{"type":"text","value":"one\ntwo\nx"}]}`, []string{"crlf.txt"}},
		{"an empty file", "## user\nx\n[include](empty.md)\ny\n", `{"role":"user","content":[{"type":"text","value":"x\n\ny"}]}`, []string{"empty.md"}},
		{"in a fence", "```session-config\n{}\n```\n\n```python setup-script\n  [include](run.py)\n```\n", `{"metadata":{},"execution_config":{},"setup_script":{"language":"python","code":"  print(1)\n  print(2)"}}`, []string{"run.py"}},
		{"quoted", "## user\n> x\n  > [include](a.md)\n> y\n", `{"role":"user","content":[{"type":"text","value":"x\none\ntwo\ny"}]}`, []string{"a.md"}},
		{"indented", "## user\n- x\n  [include](a.md)\n", `{"role":"user","content":[{"type":"text","value":"- x\n  one\n  two"}]}`, []string{"a.md"}},
		{"recursive, relative to the including file", "## user\n[include](sub/b.md)\n", `{"role":"user","content":[{"type":"text","value":"c"}]}` + "\n" + `{"role":"assistant","content":[{"type":"text","value":"answer\nb\n  e\n  f"}]}`, []string{"sub/b.md", "sub/c.md", "sub/deep/d.md", "sub/deep/e f.md"}},
		{"twice", "## user\n[include](a.md)\n[include](./a.md)\n", `{"role":"user","content":[{"type":"text","value":"one\ntwo\none\ntwo"}]}`, []string{"a.md"}},
		{"one message", "## user\n[include](talk.md#0)\n", `{"role":"user","content":[{"type":"text","value":"asked"}]}`, []string{"talk.md"}},
		{"a message with code", "## user\n[include](talk.md#1)\n", `{"role":"user","content":[{"type":"text","value":"said"},{"type":"code","language":"sh","name":"x","code":"ls"}]}`, []string{"talk.md"}},
		{"a message counted from the end, which forges nothing", "## user\n[include](talk.md#-1)\n", `{"role":"user","content":[{"type":"text","value":"## user\n[include](a.md)"}]}`, []string{"talk.md"}},
		{"messages", "[include](sub/c.md)\n\n## user\nx\n", `{"metadata":{"preamble":"c"},"execution_config":{}}` + "\n" + `{"role":"assistant","content":[{"type":"text","value":"answer"}]}` + "\n" + `{"role":"user","content":[{"type":"text","value":"x"}]}`, []string{"sub/c.md"}},
		{"not in front matter", "---\na: |\n  [include](a.md)\n---\n", `{"metadata":{"user_metadata":{"a":"[include](a.md)\n"}},"execution_config":{}}`, nil},
		{"an open fence", "## user\n[include](open.md)\n## user\n", `{"role":"user","content":[{"type":"code","language":"sh","code":"ls\n## user"}]}`, []string{"open.md"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc, err := files.decode(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := shape(doc); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			var includes []string
			for _, f := range doc.Includes {
				includes = append(includes, f.Path)
				if string(f.Data) != files[f.Path] {
					t.Errorf("%s: got %q", f.Path, f.Data)
				}
			}
			if diff := cmp.Diff(test.includes, includes); diff != "" {
				t.Errorf("includes (-want +got):\n%s", diff)
			}
			if text, err := markdown.Encode(doc); err != nil || string(text) != test.text {
				t.Errorf("encoded as %q, %v", text, err)
			}
			stored := directory{} // another clone has only what was stored
			for _, f := range doc.Includes {
				stored[f.Path] = string(f.Data)
			}
			if again, err := stored.decode(test.text); err != nil || shape(again) != test.want {
				t.Errorf("read again with the stored files: %v", err)
			}
			doc.Includes = nil // what was included is lost: the canonical form says it all
			text, err := markdown.Encode(doc)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := (directory{}).decode(string(text)); err != nil || shape(again) != test.want {
				t.Errorf("without its includes it is %q, which reads as %v", text, err)
			}
		})
	}
}

func TestIncludeLayout(t *testing.T) {
	files := directory{"two.md": "x\n## user\na\n## assistant\nb\n"}
	text := "pre\n\n## user\n\nq\n\n## assistant\n[include](two.md)\n\n## user\n\nz\n"
	doc, err := files.decode(text)
	if err != nil {
		t.Fatal(err)
	}
	id := markdown.IncludesID(doc.Includes)
	type layout struct {
		Verbatim     bool
		Span, Within int
		Includes     string
	}
	var got []layout
	for _, m := range doc.Conversation {
		got = append(got, layout{m.Verbatim, m.Span, m.Within, m.Includes})
	}
	span := doc.Conversation[1].SpanID()
	if diff := cmp.Diff([]layout{{}, {true, 2, 0, id}, {false, 0, 1, span}, {false, 0, 2, span}, {}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if doc.Preamble.Includes != "" {
		t.Error("the preamble includes nothing")
	}
}

func TestIncludeErrors(t *testing.T) {
	files := directory{
		"a.md":      "a\n\n[include](b.md)\n",
		"b.md":      "[include](a.md)\n",
		"self.md":   "[include](self.md)\n",
		"bad.md":    "x\n\n  [include](none.md)\n",
		"talk.md":   "## user\nhi\n",
		"broken.md": "## user\n```msg-metadata\n{\n```\n",
		"bomb.md":   strings.Repeat("[include](leaf.md)\n", 10_000),
		"leaf.md":   "x\n",
		"big.md":    strings.Repeat("x", 1<<20) + "\n",
		"bigger.md": strings.Repeat("[include](big.md)\n", 65),
		"indent.md": strings.Repeat("\n", 1000),
		"empty.md":  "",
		"many.md":   strings.Repeat("[include](empty.md)\n", 900),
	}
	const missing = "open none.md: file does not exist"
	for _, test := range []struct{ name, text, want string }{
		{"missing", "## user\n\n [include](none.md)\n", `notes/s.md:3:2: include "none.md": ` + missing},
		{"missing in an included file", "[include](bad.md)\n", `notes/bad.md:3:3: include "none.md": ` + missing},
		{"after front matter", "---\na: 1\n---\n\n[include](none.md)\n", `notes/s.md:5:1: include "none.md": ` + missing},
		{"a cycle", "[include](a.md)\n", `notes/b.md:1:1: include "a.md": the file includes itself, directly or through others`},
		{"itself", "[include](self.md)\n", `notes/self.md:1:1: include "self.md": the file includes itself, directly or through others`},
		{"above", "[include](../x.md)\n", `notes/s.md:1:1: include "../x.md": the path has "..", expected a file in the document's directory or below`},
		{"around", "[include](a/../x.md)\n", `notes/s.md:1:1: include "a/../x.md": the path has "..", expected a file in the document's directory or below`},
		{"absolute", "[include](/etc/passwd)\n", `notes/s.md:1:1: include "/etc/passwd": the path is absolute, expected one relative to the including file`},
		{"on a drive", "[include](C:x.md)\n", `notes/s.md:1:1: include "C:x.md": the path is absolute, expected one relative to the including file`},
		{"a backslash", "[include](..\\x.md)\n", `notes/s.md:1:1: include "..\\x.md": the path has a backslash or a control character, expected "/" between names`},
		{"a NUL", "[include](x\x00.md)\n", `notes/s.md:1:1: include "x\x00.md": the path has a backslash or a control character, expected "/" between names`},
		{"the repository", "[include](sub/.GIT/config)\n", `notes/s.md:1:1: include "sub/.GIT/config": the file is in a .git directory, which cannot be included from`},
		{"no name", "[include]( )\n", `notes/s.md:1:1: include " ": no file is named, expected a path`},
		{"a directory", "[include](.)\n", `notes/s.md:1:1: include ".": the path names a directory, expected a file`},
		{"a bad index", "[include](talk.md#x)\n", `notes/s.md:1:1: include "talk.md#x": "x" is not a message index, expected an integer after the number sign`},
		{"no such message", "[include](talk.md#1)\n", `notes/s.md:1:1: include "talk.md#1": there is no message 1, the file has 1`},
		{"no such message from the end", "[include](talk.md#-2)\n", `notes/s.md:1:1: include "talk.md#-2": there is no message -2, the file has 1`},
		{"a broken message", "[include](broken.md#0)\n", `notes/broken.md:3:2: msg-metadata block: unexpected end of input, expected a member name in double quotes`},
		{"a broken message that is included whole", "x\n[include](broken.md)\n", `notes/broken.md:3:2: msg-metadata block: unexpected end of input, expected a member name in double quotes`},
		{"too many", "[include](bomb.md)\n", `notes/bomb.md:10000:1: include "leaf.md": more than 10000 includes in one document`},
		{"too much", "[include](bigger.md)\n", `notes/bigger.md:64:1: include "big.md": the included text comes to more than 64 MiB`},
		{"too much of nothing", strings.Repeat("[include](many.md)\n", 9000), `notes/s.md:1460:1: include "many.md": the included text comes to more than 64 MiB`},
		{"too much by indentation", strings.Repeat(" ", 1<<20) + "[include](indent.md)\n", `notes/s.md:1:1048577: include "indent.md": the included text comes to more than 64 MiB`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := files.decode(test.text)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	if _, err := files.decode("[include](none.md)\n"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist in it", err)
	}
	if _, err := markdown.Decode(format.Source{Data: []byte("[include](a.md)\n")}); err == nil || !strings.Contains(err.Error(), "1:1: include \"a.md\": nothing can be included here") {
		t.Errorf("without a directory: got %v", err)
	}
}

func TestIncludeDepth(t *testing.T) {
	files := directory{}
	for i := range 200 {
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("[include](%d.md)\n", i+1)
	}
	files["200.md"] = "end\n"
	if _, err := files.decode("[include](0.md)\n"); err == nil || !strings.Contains(err.Error(), "more than 100 deep") {
		t.Errorf("got %v", err)
	}
	if _, err := files.decode("[include](150.md)\n"); err != nil {
		t.Error(err)
	}
}
