package opencode_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/opencode"
)

var fixtures = formattest.Fixtures{
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

func TestGolden(t *testing.T) { fixtures.Golden(t, opencode.Codec()) }

func TestAny(t *testing.T) { fixtures.Any(t, opencode.Codec()) }

func FuzzDecode(f *testing.F) { fixtures.Fuzz(f, opencode.Codec()) }
