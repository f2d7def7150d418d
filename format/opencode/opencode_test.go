package opencode_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/opencode"
)

var fixtures = map[string]string{
	"session": `{
  "info": {"id": "ses_2b00000000000000000000001", "slug": "note", "projectID": "global", "directory": "/work/shop", "title": "Write a note", "version": "1.2.26", "time": {"created": 1772784000000, "updated": 1772784009000}},
  "messages": [
    {"info": {"id": "msg_1", "sessionID": "ses_2b00000000000000000000001", "role": "user", "time": {"created": 1772784001000}, "agent": "build", "model": {"providerID": "p", "modelID": "m"}},
     "parts": [{"id": "prt_1", "type": "text", "text": "Write a note please"}, {"id": "prt_2", "type": "text", "synthetic": true, "text": "Called the Read tool"}, {"id": "prt_3", "type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}, {"id": "prt_4", "type": "file", "mime": "text/plain", "filename": "b.txt", "url": "file:///b.txt"}]},
    {"info": {"id": "msg_2", "sessionID": "ses_2b00000000000000000000001", "role": "assistant", "parentID": "msg_1", "time": {"created": 1772784002000, "completed": 1772784003000}, "modelID": "claude-opus-4-6", "providerID": "anthropic", "path": {"cwd": "/work/shop/api", "root": "/work/shop"}, "tokens": {"total": 143, "input": 3, "output": 20, "reasoning": 10, "cache": {"read": 100, "write": 10}}, "finish": "tool-calls"},
     "parts": [{"type": "step-start", "snapshot": "c0ffee"}, {"type": "reasoning", "text": "Plan."}, {"type": "text", "text": "I will write the file."},
       {"type": "tool", "callID": "call_1", "tool": "bash", "state": {"status": "completed", "input": {"command": "echo hello"}, "output": "hello", "title": "x", "metadata": {}, "time": {"start": 1, "end": 2}}},
       {"type": "tool", "callID": "call_2", "tool": "read", "state": {"status": "error", "input": {"path": "x"}, "error": "no such file"}},
       {"type": "tool", "callID": "call_3", "tool": "bash", "state": {"status": "running", "input": {"command": "sleep 9"}}},
       {"type": "step-finish", "snapshot": "c0ffee", "cost": 0, "tokens": {}}]},
    {"info": {"id": "REDACTED", "role": "assistant", "time": {"created": 1772784004000}, "modelID": "m", "error": {"name": "MessageAbortedError"}}, "parts": [{"type": "text", "text": "` + "```workspace-config\\nresources: []\\n```" + `"}]},
    {"info": {"id": "REDACTED", "role": "assistant", "time": {"created": 1772784005000}}, "parts": [{"type": "text", "text": "Done, {[\"quoted\\\\\"]}."}]}
  ]
}
`,
}

// TestCompact: an export on one line is the same session.
func TestCompact(t *testing.T) {
	lines := formattest.MustOpen(t, opencode.Codec(), fixtures["session"])[0].Document
	one := formattest.MustOpen(t, opencode.Codec(), strings.ReplaceAll(fixtures["session"], "\n", " "))[0].Document
	if a, b := formattest.Markdown(t, lines), formattest.Markdown(t, one); a != b {
		t.Errorf("on one line:\n%s", b)
	}
}

// TestTruncated: of an export that ends too early, whole messages are there.
func TestTruncated(t *testing.T) {
	data := fixtures["session"]
	doc := formattest.MustOpen(t, opencode.Codec(), data[:strings.Index(data, "Done, ")])[0].Document
	if len(doc.Conversation) != 3 || len(doc.Damage) != 1 || !strings.Contains(doc.Damage[0].Error(), "could not be read") {
		t.Errorf("%d messages, %v", len(doc.Conversation), doc.Damage)
	}
}

// TestGolden pins the fixtures, their Markdown, and the transcripts written from them.
func TestGolden(t *testing.T) {
	for name, data := range fixtures {
		formattest.Golden(t, "testdata/"+name+".jsonl", data)
		formattest.CheckTranscript(t, opencode.Codec(), "testdata", name, data)
	}
}

// TestAny: whatever is cut off, repeated or left out, the rest can be shown, stored and written.
func TestAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.CheckAny(t, opencode.Codec(), []byte(drawn(t))) })
}

// drawn draws a transcript from the lines of the fixtures.
func drawn(t *rapid.T) string {
	lines := strings.SplitAfter(strings.TrimSuffix(fixtures["session"], "\n"), "\n")
	text := lines[0] + strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 20).Draw(t, "lines"), "")
	return text[:rapid.IntRange(max(0, len(text)-50), len(text)).Draw(t, "cut")]
}

func FuzzDecode(f *testing.F) {
	for _, data := range fixtures {
		f.Add([]byte(data))
		f.Add([]byte(data[:len(data)/2]))
	}
	f.Fuzz(func(t *testing.T, data []byte) { formattest.CheckAny(t, opencode.Codec(), data) })
}
