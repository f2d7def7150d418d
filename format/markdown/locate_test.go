package markdown_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/syntax"
)

// TestLocate: an error about the configuration has the place in the block that says it.
func TestLocate(t *testing.T) {
	yaml := "# Title\n\n```workspace-config\nresources:\n  - name: shell\n    type: &type nope\n  - name: other\n    type: *type\n    list: [a, b]\n```\n"
	json := "```session-config\n{\n  \"model\": \"m\",\n  \"workspace\": {\"resources\": [\n    {\"name\": 5}]}\n}\n```\n"
	for _, test := range []struct{ name, text, pointer, want string }{
		{"YAML", yaml, "/execution_config/workspace/resources/0/type", "s.md:6:11: /resources/0/type: workspace-config block: wrong"},
		{"an item of YAML", yaml, "/execution_config/workspace/resources/1/list/1", "s.md:9:15: /resources/1/list/1: workspace-config block: wrong"},
		{"a missing member of YAML", yaml, "/execution_config/workspace/resources/0/args", "s.md:5:5: /resources/0/args: workspace-config block: wrong"},
		{"an item that YAML lacks", yaml, "/execution_config/workspace/resources/7", "s.md:5:3: /resources/7: workspace-config block: wrong"},
		{"the whole block", yaml, "/execution_config/workspace", "s.md:4:1: workspace-config block: wrong"},
		{"an alias", yaml, "/execution_config/workspace/resources/1/type/x", "s.md:8:11: /resources/1/type/x: workspace-config block: wrong"},
		{"JSON", json, "/execution_config/workspace/resources/0/name", "s.md:5:14: /workspace/resources/0/name: session-config block: wrong"},
		{"a missing member of JSON", json, "/execution_config/workspace/resources/0/type", "s.md:5:5: /workspace/resources/0/type: session-config block: wrong"},
		{"no block says it", "## user\n\nHi\n", "/execution_config/model", "s.md: /execution_config/model: wrong"},
		{"the first block of a kind counts", yaml + yaml, "/execution_config/workspace/resources/0/type", "s.md:6:11: /resources/0/type: workspace-config block: wrong"},
		{"a block that is not YAML", "```session-config\na: [\n```\n", "/execution_config/a", "s.md:2:1: /a: session-config block: wrong"},
		{"a block that is not JSON", "```session-config\n{\n```\n", "/execution_config/a", "s.md:2:1: /a: session-config block: wrong"},
		{"an empty block", "```session-config\n```\n", "/execution_config/a", "s.md:2:1: /a: session-config block: wrong"},
		{"a whole snapshot", "```domarkx-snapshot\n{\"execution_config\": {\"model\": 5}}\n```\n", "/execution_config/model", "s.md:2:32: /execution_config/model: domarkx-snapshot block: wrong"},
	} {
		f := formattest.File(test.text)
		f.Path = "s.md"
		found, err := markdown.Check(f, domarkx.NewHeader(), 1)
		if err != nil {
			t.Fatal(err)
		}
		before := syntax.Error{Path: "elsewhere", Pointer: test.pointer, Msg: "wrong"}
		got := found.Locate(&before)
		if got.Error() != test.want {
			t.Errorf("%s: %q, want %q", test.name, got.Error(), test.want)
		}
		if before.Path != "elsewhere" || before.Pointer != test.pointer {
			t.Errorf("%s: the error itself was changed", test.name)
		}
	}
}

// TestCheckReadErrors: a file that cannot be read is not judged.
func TestCheckReadErrors(t *testing.T) {
	f := formattest.File(strings.Repeat("x\n", 300<<10))
	for reads := range 3 {
		broken := f
		broken.Content = &formattest.FailingReader{ReaderAt: f.Content, Reads: reads}
		if _, err := markdown.Check(broken, domarkx.NewHeader(), 0); err == nil || err.Error() != "f: "+formattest.ErrBroken.Error() {
			t.Errorf("read %d fails: %v", reads, err)
		}
	}
}

// TestCheckManyBlocks: each damaged block is reported in its line, and large ones are not checked.
func TestCheckManyBlocks(t *testing.T) {
	var b strings.Builder
	b.WriteString("## assistant\n\n")
	for range 50 {
		b.WriteString("```tool-call\n{\n```\n\n")
	}
	if !testing.Short() {
		b.WriteString("```tool-call\n" + strings.Repeat(strings.Repeat("x", 1023)+"\n", 17<<10) + "```\n")
	}
	found, err := markdown.Check(formattest.File(b.String()), domarkx.NewHeader(), 1)
	if err != nil || len(found.Blocks) != 50 {
		t.Fatalf("%d reports, %v", len(found.Blocks), err)
	}
	for i, report := range found.Blocks {
		if want := 5 + 4*i; report.Line != want {
			t.Errorf("block %d is reported in line %d, want %d", i, report.Line, want)
		}
	}
}
