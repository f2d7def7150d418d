package copilot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/copilot"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// transcript returns a transcript with these events, each a type and its data.
func transcript(events ...string) string {
	var b strings.Builder
	b.WriteString(`{"type":"session.start","data":{"sessionId":"s1","context":{"cwd":"/a","branch":"main"}},"id":"0"}` + "\n")
	for i := 0; i < len(events); i += 2 {
		fmt.Fprintf(&b, `{"type":%q,"data":%s,"id":"%d","timestamp":"2026-03-05T08:00:0%d.000Z","parentId":null}`+"\n", events[i], events[i+1], i+1, i%10)
	}
	return b.String()
}

// TestEvents: which events become which messages.
func TestEvents(t *testing.T) {
	const message, prompt, complete = "assistant.message", "user.message", "tool.execution_complete"
	call := `{"content":"","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"a":1}}]}`
	for _, test := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"images of prompts", []string{prompt, `{"content":"see","attachments":[{"mimeType":"image/png","data":"QQ=="},{"type":"file","path":"x"}]}`}, []string{"user: see\n\n![image](data:image/png;base64,QQ==)"}},
		{"sub-agents", []string{message, `{"content":"x"}`, message, `{"content":"inner","parentToolCallId":"c1"}`}, []string{"assistant: x"}},
		{"messages of one request are one", []string{message, `{"apiCallId":"a","content":"x"}`, prompt, `{"content":"Hi"}`, message, `{"apiCallId":"a","content":"y"}`}, []string{"assistant: x\n\ny", "user: Hi"}},
		{"messages without one are several", []string{message, `{"content":"x"}`, message, `{"content":"y"}`}, []string{"assistant: x", "assistant: y"}},
		{"a result", []string{message, call, complete, `{"toolCallId":"c1","success":true,"result":{"content":"o"}}`}, []string{`assistant: [c1 bash {"a":1}] -> "o"`}},
		{"a result that does not say if it is one", []string{message, call, complete, `{"toolCallId":"c1","result":{"content":"o"}}`}, []string{`assistant: [c1 bash {"a":1}] -> "o"`}},
		{"a failure", []string{message, call, complete, `{"toolCallId":"c1","success":false,"error":{"message":"no"},"result":{"content":"o"}}`}, []string{`assistant: [c1 bash {"a":1}] -> failed failed "no"`}},
		{"a failure as text", []string{message, call, complete, `{"toolCallId":"c1","success":false,"error":"no"}`}, []string{`assistant: [c1 bash {"a":1}] -> failed failed "no"`}},
		{"a failure with a result", []string{message, call, complete, `{"toolCallId":"c1","success":false,"result":{"content":"o"}}`}, []string{`assistant: [c1 bash {"a":1}] -> failed failed "o"`}},
		{"reasoning", []string{message, `{"content":"x","reasoningText":"hm"}`}, []string{"assistant: thought(hm) x"}},
		{"data of other kinds", []string{message, `"x"`, prompt, `{"content":5}`, complete, `{}`}, []string{"assistant:", "user:"}},
	} {
		doc := formattest.MustOpen(t, copilot.Codec(), transcript(test.events...))[0].Document
		if diff := cmp.Diff(test.want, formattest.Shown(doc)); diff != "" || doc.Damage != nil {
			t.Errorf("%s: damage %v (-want +got):\n%s", test.name, doc.Damage, diff)
		}
	}
}

// TestMetadata: usage, model, directory and branch of an answer.
func TestMetadata(t *testing.T) {
	usage := `{"usage":{"model":"m2","inputTokens":100,"outputTokens":20,"cacheReadTokens":10,"cacheWriteTokens":5,"reasoningTokens":7,"apiCallId":"a"}}`
	for name, test := range map[string]struct {
		events []string
		want   string
	}{
		"a record of usage before the answer": {[]string{"session.usage_record", usage, "assistant.message", `{"apiCallId":"a","content":"x"}`},
			`{"id":"3","model":"m2","usage":{"input":85,"cache_read":10,"cache_write":5,"output":20,"reasoning":7},"cwd":"/a","git_branch":"main"}`},
		"and behind it": {[]string{"assistant.message", `{"apiCallId":"a","content":"x","model":"m1","outputTokens":3}`, "session.usage_record", usage},
			`{"id":"1","model":"m1","usage":{"input":85,"cache_read":10,"cache_write":5,"output":20,"reasoning":7},"cwd":"/a","git_branch":"main"}`},
		"only the output is known": {[]string{"assistant.message", `{"content":"x","outputTokens":3}`}, `{"id":"1","usage":{"input":0,"cache_read":0,"cache_write":0,"output":3,"reasoning":0},"cwd":"/a","git_branch":"main"}`},
		"aborted":                  {[]string{"assistant.message", `{"content":"x"}`, "abort", `{}`}, `{"id":"1","stop_reason":"aborted","cwd":"/a","git_branch":"main"}`},
		"resumed elsewhere":        {[]string{"session.resume", `{"context":{"cwd":"/b"}}`, "assistant.message", `{"content":"x"}`}, `{"id":"3","cwd":"/b"}`},
	} {
		doc := formattest.MustOpen(t, copilot.Codec(), transcript(test.events...))[0].Document
		if got := doc.Conversation[0].Metadata.JSON(); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
	doc := formattest.MustOpen(t, copilot.Codec(), transcript("session.title_changed", `{"title":"T"}`, "session.resume", `{"context":{"cwd":"/b","branch":"next"}}`))[0].Document
	if got, want := doc.Header.UserMetadata.JSON(), `{"title":"T","agent":"copilot","session_id":"s1","cwd":"/a","git_branches":["main","next"]}`; got != want {
		t.Errorf("the header is\n%s\nwant\n%s", got, want)
	}
}

// TestWrittenEvents: events form a chain, have the title, and images are reported as lost.
func TestWrittenEvents(t *testing.T) {
	doc := formattest.MustOpen(t, copilot.Codec(), transcript("session.title_changed", `{"title":"T"}`, "user.message", `{"content":"see","attachments":[{"mimeType":"image/png","data":"QQ=="}]}`,
		"assistant.message", `{"content":"x","model":"m","toolRequests":[{"toolCallId":"c1","name":"a"}]}`, "tool.execution_complete", `{"toolCallId":"c1","result":{"content":"o"}}`, "assistant.message", `{"content":"y"}`))[0].Document
	doc.Conversation[1].Content = append(doc.Conversation[1].Content, domarkx.Block{Type: domarkx.TextBlock, Text: "![image](data:image/png;base64,QQ==)"})
	written, lost := formattest.Encode(t, copilot.Codec(), doc)
	if diff := cmp.Diff([]string{"images: 1 message", "images in the result of a call: 1 call"}, lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	last, seen := "null", map[string]bool{}
	for line := range strings.Lines(written) {
		v, err := jsonvalue.ParseValue([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		id, _ := v.Get("id")
		if parent, _ := v.Get("parentId"); parent.JSON() != last || seen[id.Text()] {
			t.Errorf("the event %s comes after %s, written after %s", id.Text(), parent.JSON(), last)
		}
		last, seen[id.Text()] = id.JSON(), true
	}
	again := formattest.MustOpen(t, copilot.Codec(), written)[0].Document
	if diff := cmp.Diff([]string{"user: see", `assistant: x [c1 a {}] -> "o"`, "assistant: y"}, formattest.Shown(again)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if title, _ := again.Header.UserMetadata.Get("title"); title.Text() != "T" {
		t.Errorf("the title is %q", title.Text())
	}
}

// TestDetect: a transcript may begin with any event, but not with JSON of others.
func TestDetect(t *testing.T) {
	for head, want := range map[string]bool{
		`{"type":"session.start","data":{"sessionId":"s1"}}`:                                  true,
		`{"type":"session.start","data":{}}`:                                                  false,
		`{"type":"user.message","data":{},"id":"1","timestamp":"2026","parentId":null}`:       true,
		`{"type":"user","data":{},"id":"1","timestamp":"2026","parentId":null}`:               false,
		`{"type":"user.message","id":"1","timestamp":"2026","parentId":null}`:                 false,
		`{"type":"session.start","data":{"sessionId":"s1","context":{"cwd":"/long and cut of`: true,
	} {
		if got := copilot.Codec().Detect([]byte(head), ""); got != want {
			t.Errorf("%s: %t", head, got)
		}
	}
}

func TestPlace(t *testing.T) {
	data := transcript()
	got, err := copilot.Codec().Place(format.File{Content: strings.NewReader(data), Size: int64(len(data))}, 0)
	if err != nil || got != (format.Place{Path: "s1/events.jsonl", ID: `["s1","",""]`}) {
		t.Errorf("%+v, %v", got, err)
	}
}
