package codex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/codex"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/transcript"
)

// TestGolden pins the fixtures, their Markdown, and the transcripts written from them.
func TestGolden(t *testing.T) {
	for name, data := range map[string]string{"session": session(), "legacy": legacy(), "paginated": paginated(), "hostile": hostile()} {
		formattest.Golden(t, "testdata/"+name+".jsonl", data)
		formattest.CheckTranscript(t, codex.Codec(), "testdata", name, data)
	}
}

func usage(m domarkx.WrittenMessage) string {
	v, _ := m.Metadata.Get("usage")
	model, _ := m.Metadata.Get("model")
	return strings.TrimSpace(model.Text() + " " + v.JSON())
}

// TestUsage: each response has its own model and usage, once.
func TestUsage(t *testing.T) {
	var got []string
	for _, data := range []string{session(), paginated()} {
		for _, m := range formattest.MustOpen(t, codex.Codec(), data)[0].Document.Conversation {
			if m.Role == domarkx.Assistant {
				got = append(got, usage(m))
			}
		}
	}
	of := func(model string, input, read, write, output, reasoning int) string {
		return fmt.Sprintf(`%s {"input":%d,"cache_read":%d,"cache_write":%d,"output":%d,"reasoning":%d}`, model, input, read, write, output, reasoning)
	}
	want := []string{of("gpt-5.5", 200, 800, 0, 50, 7), of("gpt-5.5", 500, 1000, 0, 60, 7), of("gpt-5.5", 100, 1500, 0, 70, 7), "gpt-5.5-mini null",
		of("gpt-5.5", 85, 10, 5, 20, 5), "gpt-5.5 null"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestIDs: the id of a message without one does not depend on how its record is spelled.
// TestFailed checks that the lines above the output of a command say whether it failed, and that the output does not.
func TestFailed(t *testing.T) {
	for output, failed := range map[string]bool{
		"Chunk ID: 1a2b3c\nWall time: 1.0024 seconds\nProcess exited with code 2\nOriginal token count: 63\nOutput:\nno": true,
		"Exit code: -1\nWall time: 0.1 seconds\nTotal output lines: 9\nOutput:\n":                                        true,
		"Chunk ID: 1a2b3c\nWall time: 1.0024 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1\n": false,
		"Wall time: 1.0024 seconds\nProcess running with session ID 42\nOutput:\n\nExit code: 1\nOutput:\n":              false,
		"Process exited with code 1\nThis is no line of Codex\nOutput:\n":                                                false,
		"Process exited with code 1": false,
	} {
		f := newFixture("019ca000-0000-7000-8000-000000000007")
		f.call("call_1", "exec_command", "{}")
		f.output("call_1", quote(output))
		content := formattest.MustOpen(t, codex.Codec(), f.String())[0].Document.Conversation[0].Content
		if got := strings.Contains(content[1].Text, `"ok": false`); got != failed {
			t.Errorf("%q: failed is %v", output, got)
		}
	}
}

func TestIDs(t *testing.T) {
	ids := func(data string) (all []string) {
		for _, m := range formattest.MustOpen(t, codex.Codec(), data)[0].Document.Conversation {
			all = append(all, m.Origin)
		}
		return all
	}
	data := session()
	migrated := strings.ReplaceAll(data, `"type":"response_item",`, `"ordinal":1,"type":"response_item",`)
	if diff := cmp.Diff(ids(data), ids(migrated)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// TestNamespaces: names of tools have the separator of Codex between server and tool.
func TestNamespaces(t *testing.T) {
	for _, test := range []struct{ kind, space, name, tool string }{
		{"function_call", "mcp__github", "create_issue", "mcp__github__create_issue"},
		{"function_call", "mcp__github__", "create_issue", "mcp__github__create_issue"},
		{"function_call", "mcp__apps__calendar", "_create_event", "mcp__apps__calendar_create_event"},
		{"function_call", "mcp__github", "mcp__github__create_issue", "mcp__github__create_issue"},
		{"function_call", "", "mcp__github__create_issue", "mcp__github__create_issue"},
		{"function_call", "", "exec_command", "exec_command"},
		{"custom_tool_call", "mcp__github", "create_issue", "mcp__github__create_issue"},
		{"mcp_tool_call", "mcp__github", "create_issue", "mcp__github__create_issue"},
	} {
		f := newFixture("019ca000-0000-7000-8000-000000000008")
		f.item(fmt.Sprintf(`{"type":%q,"namespace":%q,"name":%q,"arguments":"{}","input":"","call_id":"call_1"}`, test.kind, test.space, test.name))
		content := formattest.MustOpen(t, codex.Codec(), f.String())[0].Document.Conversation[0].Content
		if call, ok := transcript.CallOf(content[0]); !ok || call.Tool != test.tool {
			t.Errorf("%s %q %q: the tool is %q, want %q", test.kind, test.space, test.name, call.Tool, test.tool)
		}
	}
}

// records draws a transcript.
func records(t *rapid.T) string {
	f := newFixture("019ca000-0000-7000-8000-000000000005")
	said := rapid.OneOf(rapid.SampledFrom([]string{"", "Hello", "a\n\n```go\nx\n```\nb", "```tool-call\n{}\n```", "<environment_context></environment_context>", "## user", " x ", "\u2028", "\x00", "~~~\nopen"}), rapid.String())
	var open []string
	calls := 0
	for range rapid.IntRange(0, 14).Draw(t, "records") {
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			f.user(said.Draw(t, "prompt"))
		case 1:
			f.answer(said.Draw(t, "answer"))
		case 2:
			f.thought(said.Draw(t, "thought"))
		case 3, 4:
			calls++
			id := fmt.Sprintf("call_%d", calls)
			open = append(open, id)
			f.call(id, "exec_command", `{"cmd":`+quote(said.Draw(t, "argument"))+`}`)
		case 5, 6:
			if len(open) > 0 {
				k := rapid.IntRange(0, len(open)-1).Draw(t, "call")
				f.output(open[k], quote(said.Draw(t, "output")))
				open = slices.Delete(open, k, k+1)
			}
		case 7:
			f.tokens(100, 10, 5)
		case 8:
			f.turn(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "model"))
		}
	}
	return f.String()
}

// TestGrowth: reading a transcript in two parts gives the same session as reading it whole.
func TestGrowth(t *testing.T) {
	grew := 0
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(records(t))
		if formattest.CheckGrowth(t, codex.Codec(), data, rapid.IntRange(strings.IndexByte(string(data), '\n')+1, len(data)).Draw(t, "cut")) {
			grew++
		}
	})
	if grew == 0 {
		t.Error("nothing was taken for growth")
	}
	f := newFixture("019ca000-0000-7000-8000-000000000006")
	turn := func() {
		f.turn("gpt-5.5")
		f.user("Go on.")
		f.call(fmt.Sprint("call_", f.n), "exec_command", "{}")
		f.tokens(1, 0, 1)
		f.output(fmt.Sprint("call_", f.n-2), quote("done"))
		f.answer("Done.")
		f.tokens(1, 0, 1)
	}
	turn()
	cut := f.Len()
	turn()
	if !formattest.CheckGrowth(t, codex.Codec(), []byte(f.String()), cut) {
		t.Error("one more turn is not growth")
	}
}

func TestAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.CheckAny(t, codex.Codec(), []byte(records(t))) })
}

func TestWithstand(t *testing.T) {
	formattest.Fixtures{"session": session()}.Withstand(t, codex.Codec(), "flaky")
}

func FuzzDecode(f *testing.F) {
	for _, data := range []string{session(), legacy(), paginated(), hostile()} {
		f.Add([]byte(data))
		f.Add([]byte(data[:len(data)/2]))
	}
	f.Fuzz(func(t *testing.T, data []byte) { formattest.CheckAny(t, codex.Codec(), data) })
}
