package opencode_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/opencode"
)

// export returns an export of a session with these messages.
func export(info string, messages ...string) string {
	return `{"info": {"id": "ses_1", "directory": "/w"` + info + `}, "messages": [` + strings.Join(messages, ", ") + `]}`
}

func message(role, info, parts string) string {
	return `{"info": {"id": "msg_1", "role": "` + role + `"` + info + `}, "parts": [` + parts + `]}`
}

// TestParts: which parts become which content.
func TestParts(t *testing.T) {
	for _, test := range []struct{ name, role, parts, want string }{
		{"texts", "user", `{"type": "text", "text": "a"}, {"type": "text", "text": "b"}`, "user: a\n\nb"},
		{"texts of the program", "user", `{"type": "text", "text": "a"}, {"type": "text", "text": "b", "synthetic": true}, {"type": "text", "text": "c", "ignored": true}`, "user: a"},
		{"a task for a sub-agent", "user", `{"type": "subtask", "prompt": "look"}`, "user: look"},
		{"an image", "user", `{"type": "file", "mime": "image/png", "url": "data:image/png;base64,QQ=="}`, "user: ![image](data:image/png;base64,QQ==)"},
		{"a file", "user", `{"type": "file", "mime": "text/plain", "filename": "a.txt", "url": "file:///a.txt"}`, "user: [file: a.txt]"},
		{"a file without a name", "user", `{"type": "file", "mime": "text/plain"}`, "user: [file: text/plain]"},
		{"a file of the program", "user", `{"type": "text", "text": "a"}, {"type": "file", "synthetic": true, "mime": "image/png", "url": "data:image/png;base64,QQ=="}`, "user: a"},
		{"parts of tomorrow", "user", `{"type": "text", "text": "a"}, {"type": "of-tomorrow", "text": "b"}, 5`, "user: a"},
		{"reasoning and text", "assistant", `{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "a"}`, "assistant: thought(hm) a"},
		{"a call", "assistant", `{"type": "tool", "callID": "c", "tool": "bash", "state": {"status": "completed", "input": {"a": 1}, "output": "o"}}`, `assistant: [c bash {"a":1}] -> "o"`},
		{"a call with an image", "assistant", `{"type": "tool", "callID": "c", "tool": "shot", "state": {"status": "completed", "output": "o", "attachments": [{"url": "data:image/png;base64,QQ=="}, {"url": "file:///x.png"}]}}`,
			`assistant: [c shot {}] -> "o" ![image](data:image/png;base64,QQ==)`},
		{"a call that failed", "assistant", `{"type": "tool", "callID": "c", "tool": "bash", "state": {"status": "error", "error": "no"}}`, `assistant: [c bash {}] -> failed failed "no"`},
		{"a call that runs", "assistant", `{"type": "tool", "callID": "c", "tool": "bash", "state": {"status": "running"}}`, `assistant: [c bash {}] -> failed no_result "the transcript has no result of this call"`},
	} {
		doc := formattest.MustOpen(t, opencode.Codec(), export("", message(test.role, "", test.parts)))[0].Document
		if diff := cmp.Diff([]string{test.want}, formattest.Shown(doc)); diff != "" || doc.Damage != nil {
			t.Errorf("%s: damage %v (-want +got):\n%s", test.name, doc.Damage, diff)
		}
	}
	none := formattest.MustOpen(t, opencode.Codec(), export("", message("user", "", `{"type": "text", "text": "x", "synthetic": true}`), message("system", "", `{"type": "text", "text": "x"}`)))[0].Document
	if len(none.Conversation) != 0 {
		t.Errorf("messages of the program alone: %q", formattest.Shown(none))
	}
}

// TestMetadata: usage, cost, model and error of an answer.
func TestMetadata(t *testing.T) {
	for name, test := range map[string]struct{ info, want string }{
		"output without the reasoning": {`, "tokens": {"total": 143, "input": 3, "output": 20, "reasoning": 10, "cache": {"read": 100, "write": 10}}`, `{"id":"msg_1","usage":{"input":3,"cache_read":100,"cache_write":10,"output":30,"reasoning":10},"cwd":"/w"}`},
		"output with the reasoning":    {`, "tokens": {"input": 3, "output": 20, "reasoning": 10}`, `{"id":"msg_1","usage":{"input":3,"cache_read":0,"cache_write":0,"output":20,"reasoning":10},"cwd":"/w"}`},
		"all":                          {`, "modelID": "m", "finish": "stop", "cost": 0.5, "path": {"cwd": "/w/api"}, "error": {"name": "E"}`, `{"id":"msg_1","model":"m","stop_reason":"stop","cwd":"/w/api","cost":0.5,"error":"E"}`},
	} {
		doc := formattest.MustOpen(t, opencode.Codec(), export("", message("assistant", test.info, "")))[0].Document
		if got := doc.Conversation[0].Metadata.JSON(); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// TestHeader: a title that the program made is not a title.
func TestHeader(t *testing.T) {
	prompt := message("user", `, "time": {"created": 1772784001000}`, `{"type": "text", "text": "Hi"}`)
	for info, want := range map[string]string{
		`, "title": "T"`:                                               `{"title":"T","agent":"opencode","session_id":"ses_1","created_at":"2026-03-06T08:00:01.000Z","cwd":"/w"}`,
		`, "title": "New session - 2026-03-06"`:                        `{"title":"Hi","agent":"opencode","session_id":"ses_1","created_at":"2026-03-06T08:00:01.000Z","cwd":"/w"}`,
		`, "title": "Child session - 2026-03-06", "parentID": "ses_0"`: `{"title":"Hi","agent":"opencode","session_id":"ses_1","parent":"ses_0","created_at":"2026-03-06T08:00:01.000Z","cwd":"/w"}`,
	} {
		doc := formattest.MustOpen(t, opencode.Codec(), export(info, prompt))[0].Document
		if got := doc.Header.UserMetadata.JSON(); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", info, got, want)
		}
	}
}

// TestWritten: ids rise and are unique, and the last prompt names the next model.
func TestWritten(t *testing.T) {
	codec := opencode.Codec()
	doc := formattest.MustOpen(t, codec, export("", message("user", "", `{"type": "text", "text": "a"}`),
		message("assistant", `, "modelID": "m"`, `{"type": "text", "text": "b"}, {"type": "tool", "callID": "c", "tool": "shot", "state": {"status": "completed", "output": "o", "attachments": [{"url": "data:image/png;base64,QQ=="}]}}`),
		message("user", "", `{"type": "text", "text": "c"}`)))[0].Document
	const id = "0198a7b6-0000-7000-8000-000000000001"
	var lost format.Losses
	out, err := codec.Encode(doc, format.Target{Losses: &lost, New: &format.NewSession{ID: id, WorkDir: "/n", Model: "anthropic/claude"}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonvalue.ParseValue(out)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path ...string) string {
		v := v
		for _, name := range path {
			v, _ = v.Get(name)
		}
		return v.Text()
	}
	if get("info", "id") != opencode.SessionID(id) || get("info", "directory") != "/n" || get("info", "title") != "a" {
		t.Errorf("the session is %s", out)
	}
	messages, _ := v.Get("messages")
	last := ""
	for k, m := range messages.Items() {
		info, _ := m.Get("info")
		next, _ := info.Get("id")
		if next.Text() <= last {
			t.Errorf("message %d has the id %s, the one before %s", k, next.Text(), last)
		}
		last = next.Text()
		model, _ := info.Get("model")
		if provider, _ := model.Get("providerID"); k != 1 && provider.Text() != "anthropic" {
			t.Errorf("message %d asks %s", k, model.JSON())
		}
	}
	if diff := cmp.Diff([]string{"images in the result of a call: 1 call"}, lost.Texts()); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// TestSessionIDs: the session of another program gets an id that OpenCode takes.
func TestSessionIDs(t *testing.T) {
	id := func(metadata string) string {
		h := domarkx.NewHeader()
		v, err := jsonvalue.ParseValue([]byte(metadata))
		if err != nil {
			t.Fatal(err)
		}
		h.UserMetadata = &v
		out, _ := formattest.Encode(t, opencode.Codec(), &domarkx.Document{Header: h})
		return formattest.MustOpen(t, opencode.Codec(), out)[0].Document.Header.UserMetadata.JSON()
	}
	if got := id(`{"agent": "opencode", "session_id": "ses_abc"}`); !strings.Contains(got, `"session_id":"ses_abc"`) {
		t.Errorf("its own session becomes %s", got)
	}
	for _, metadata := range []string{`{"agent": "opencode", "session_id": "../x"}`, `{"agent": "other", "session_id": "ses_abc"}`} {
		got := id(metadata)
		_, rest, _ := strings.Cut(got, `"session_id":"ses_`)
		if tail, _, _ := strings.Cut(rest, `"`); len(tail) != 26 || strings.Trim(tail, "0123456789abcdef") != "" {
			t.Errorf("%s becomes %s", metadata, got)
		}
	}
	if got := opencode.SessionID(uuid.Nil.String()); got != "ses_00000000000000000000000000" {
		t.Errorf("the id is %s", got)
	}
}
