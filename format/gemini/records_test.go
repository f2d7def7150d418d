package gemini_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/gemini"
)

const first = `{"sessionId":"s1","projectHash":"3202","startTime":"2026-03-03T08:00:00.000Z"}`

// TestRecords: which records become which messages.
func TestRecords(t *testing.T) {
	for _, test := range []struct {
		name    string
		records []string
		want    []string
	}{
		{"what is displayed is what the user said",
			[]string{`{"id":"m1","type":"user","content":[{"text":"expanded @file"}],"displayContent":[{"text":"@file"}]}`, `{"id":"m2","type":"user","content":"x","displayContent":"y"}`, `{"id":"m3","type":"user","content":"z","displayContent":""}`},
			[]string{"user: @file", "user: y", "user: z"}},
		{"an image alone is a prompt",
			[]string{`{"id":"m1","type":"user","content":[{"inlineData":{"mimeType":"image/png","data":"QQ=="}}]}`},
			[]string{"user: ![image](data:image/png;base64,QQ==)"}},
		{"what the program adds is none",
			[]string{`{"id":"m1","type":"user","content":"<session_context>\nx\n</session_context>"}`, `{"id":"m2","type":"user","content":[{"text":"<system-reminder>x</system-reminder>"},{"text":"Hi"}]}`,
				`{"id":"m3","type":"user","content":"This is the Gemini CLI. We are setting up the context for our chat."}`},
			[]string{"user: Hi"}},
		{"an element that is not all of the text is the user's",
			[]string{`{"id":"m1","type":"user","content":"<hook_context>x</hook_context> and more"}`},
			[]string{"user: <hook_context>x</hook_context> and more"}},
		{"a message that is written again replaces the first",
			[]string{`{"id":"m1","type":"gemini","content":"Hel"}`, `{"id":"m1","type":"gemini","content":"Hello","thoughts":[{"description":"hm"}]}`},
			[]string{"assistant: thought(hm) Hello"}},
		{"messages without ids",
			[]string{`{"type":"user","content":"a"}`, `{"type":"gemini","content":"b"}`, `{"type":"gemini","content":"c"}`},
			[]string{"user: a", "assistant: b", "assistant: c"}},
		{"a cancelled call has failed",
			[]string{`{"id":"m1","type":"gemini","toolCalls":[{"id":"c1","name":"sh","args":{},"status":"cancelled","result":[{"functionResponse":{"id":"c1","response":{"output":"cut"}}}]}]}`},
			[]string{`assistant: [c1 sh {}] -> failed failed "cut"`}},
		{"the result of a call is in a record of the user",
			[]string{`{"id":"m1","type":"gemini","toolCalls":[{"id":"c1","name":"sh","args":{"a":1}}]}`, `{"id":"m2","type":"user","content":[{"functionResponse":{"id":"c1","response":{"output":"o"}}}]}`},
			[]string{`assistant: [c1 sh {"a":1}] -> "o"`}},
		{"thoughts and calls in the content, of an answer that is written again",
			[]string{`{"id":"m1","type":"gemini","content":[{"text":"**Plan** hm","thought":true},{"text":"x"},{"functionCall":{"id":"c1","name":"sh","args":{"a":1}}}]}`,
				`{"id":"m1_response","type":"user","content":[{"functionResponse":{"id":"c1","response":{"output":"o"}}}]}`},
			[]string{`assistant: thought(**Plan** hm) x [c1 sh {"a":1}] -> "o"`}},
		{"thoughts and calls that are in the content too",
			[]string{`{"id":"m1","type":"gemini","content":[{"text":"**Plan** hm","thought":true},{"text":"x"},{"functionCall":{"id":"c1","name":"sh","args":{}}}],"thoughts":[{"subject":"Plan","description":"hm"}],` +
				`"toolCalls":[{"id":"c1","name":"sh","args":{},"result":[{"functionResponse":{"id":"c1","response":{"output":"o"}}}]}]}`},
			[]string{"assistant: thought(**Plan**\n\nhm) x [c1 sh {}] -> \"o\""}},
		{"contents of other kinds",
			[]string{`{"id":"m1","type":"user","content":5}`, `{"id":"m2","type":"user","content":[5,["x"],{"text":"Hi"},"there"]}`, `{"id":"m3","type":"gemini","content":null}`, `{"id":"m4","type":"error","content":"x"}`},
			[]string{"user: Hi\n\nthere", "assistant:"}},
		{"rewound to a message that is not there",
			[]string{`{"id":"m1","type":"user","content":"a"}`, `{"$rewindTo":"m9"}`, `{"id":"m2","type":"user","content":"b"}`},
			[]string{"user: b"}},
		{"messages in messages, which no version writes",
			[]string{`{"$set":{"messages":[{"id":"m1","type":"user","content":"a"},{"$set":{"messages":[{"$set":{"messages":[{"id":"m2","type":"user","content":"b"}]}}]}}]}}`},
			[]string{"user: b"}},
	} {
		doc := formattest.MustOpen(t, gemini.Codec(), first+"\n"+strings.Join(test.records, "\n")+"\n")[0].Document
		if diff := cmp.Diff(test.want, formattest.Shown(doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if doc.Damage != nil {
			t.Errorf("%s: damage %v", test.name, doc.Damage)
		}
	}
}

// TestWrittenAgain: a conversation that the program replaces, and then writes again, does not become a branch, however
// much of it was there meanwhile. One whose messages do not all return is a branch.
func TestWrittenAgain(t *testing.T) {
	message := func(id, kind string) string {
		return `{"id":"` + id + `","type":"` + kind + `","content":"` + id + `"}`
	}
	set := func(messages ...string) string { return `{"$set":{"messages":[` + strings.Join(messages, ",") + `]}}` }
	context := `{"id":"c","type":"user","content":[{"text":"<session_context>\nx\n</session_context>"}]}`
	m1, m2, m3, m4 := message("m1", "user"), message("m2", "gemini"), message("m3", "user"), message("m4", "gemini")
	all := []string{"user: m1", "assistant: m2", "user: m3", "assistant: m4"}
	for _, test := range []struct {
		name    string
		records []string
		want    [][]string
	}{
		{"it begins a session in the same file and goes on", []string{m1, m2, set(context), set(context, m1, m2), m3, m4}, [][]string{all}},
		{"with a part of it first", []string{m1, m2, m3, set(m1), set(context, m1, m2), set(m1, m2, m3), m4}, [][]string{all}},
		{"one after the other", []string{m1, m2, set(context), m1, m2, m3, m4}, [][]string{all}},
		{"a message is gone", []string{m1, m2, m3, m4, set(context), set(m1, m2)}, [][]string{all[:2], all}},
		{"all are gone", []string{m1, m2, set(context), m3, m4}, [][]string{all[2:], all[:2]}},
		{"nothing is there yet", []string{m1, m2, m3, m4, set(context)}, [][]string{all}},
		{"nor after two times", []string{m1, m2, m3, m4, set(context), set()}, [][]string{all}},
		{"rewound to nothing", []string{m1, m2, set(m1, m2), `{"$rewindTo":"m1"}`}, [][]string{nil, all[:2]}},
	} {
		var got [][]string
		for _, c := range formattest.MustOpen(t, gemini.Codec(), first+"\n"+strings.Join(test.records, "\n")+"\n") {
			got = append(got, formattest.Shown(c.Document))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestWrittenAgainSoon: a file that was read when a conversation was replaced by nothing is read as a whole
// when it has grown.
func TestWrittenAgainSoon(t *testing.T) {
	stateOf := func(records ...string) (state string) {
		text := first + "\n" + strings.Join(records, "\n") + "\n"
		for s, err := range gemini.Codec().Open(format.File{Content: strings.NewReader(text), Size: int64(len(text))}) {
			if err != nil {
				t.Fatal(err)
			}
			state = s.State
		}
		return state
	}
	said, none := `{"id":"m1","type":"user","content":"a"}`, `{"$set":{"messages":[]}}`
	if stateOf(said) == "" || stateOf(said, none) != "" || stateOf(said, none, said) == "" {
		t.Errorf("states %q, %q, %q", stateOf(said), stateOf(said, none), stateOf(said, none, said))
	}
}

// TestUsage: tokens from the cache and those of thoughts are counted once.
func TestUsage(t *testing.T) {
	for tokens, want := range map[string]string{
		`{"input":100,"output":20,"cached":10,"thoughts":5,"tool":0,"total":125}`: `{"input":90,"cache_read":10,"cache_write":0,"output":25,"reasoning":5}`,
		`{"input":5,"cached":10}`: `{"input":0,"cache_read":10,"cache_write":0,"output":0,"reasoning":0}`,
		`{}`:                      `{"input":0,"cache_read":0,"cache_write":0,"output":0,"reasoning":0}`,
		`null`:                    `null`,
		`"many"`:                  `null`,
	} {
		doc := formattest.MustOpen(t, gemini.Codec(), first+"\n"+`{"id":"m1","type":"gemini","content":"x","tokens":`+tokens+"}\n")[0].Document
		got, _ := doc.Conversation[0].Metadata.Get("usage")
		if got.JSON() != want {
			t.Errorf("%s counts as %s", tokens, got.JSON())
		}
		written, _ := formattest.Encode(t, gemini.Codec(), doc)
		again, _ := formattest.MustOpen(t, gemini.Codec(), written)[0].Document.Conversation[0].Metadata.Get("usage")
		if again.JSON() != want {
			t.Errorf("%s counts as %s after it was written", tokens, again.JSON())
		}
	}
}

// TestWorkDir: the working directory is in what the program says first.
func TestWorkDir(t *testing.T) {
	for _, test := range []struct{ content, want string }{
		{`<session_context>\n- **Workspace Directories:**\n  - /work/shop\n  - /work/lib\n</session_context>`, "/work/shop"},
		{`<session_context>\n- **Workspace Directories:**\n</session_context>`, ""},
		{`<session_context>none</session_context>`, ""},
		{`**Workspace Directories:**\n  - /not/the/programs\n`, ""},
	} {
		doc := formattest.MustOpen(t, gemini.Codec(), first+"\n"+`{"id":"m0","type":"user","content":"`+test.content+`"}`+"\n"+`{"id":"m1","type":"gemini","content":"x"}`+"\n")[0].Document
		header, _ := doc.Header.UserMetadata.Get("cwd")
		last, _ := doc.Conversation[len(doc.Conversation)-1].Metadata.Get("cwd")
		if header.Text() != test.want || last.Text() != test.want {
			t.Errorf("%q: the session is in %q, its message in %q", test.content, header.Text(), last.Text())
		}
	}
}

// TestSteps: an answer with several steps is written as several records with ids of their own.
func TestSteps(t *testing.T) {
	doc := formattest.MustOpen(t, gemini.Codec(), first+"\n"+`{"id":"m1","type":"gemini","content":"x","toolCalls":[{"id":"c1","name":"sh","args":{},"result":[{"functionResponse":{"id":"c1","response":{"output":"o"}}}]}]}`+"\n")[0].Document
	said := doc.Conversation[0].Content
	said = append(said, domarkx.Block{Type: domarkx.TextBlock, Text: "![image](data:image/png;base64,QQ==)"}, domarkx.Block{Type: domarkx.CodeBlock, Language: "thought", Text: "hm"}, domarkx.Block{Type: domarkx.TextBlock, Text: "then"})
	doc.Conversation[0].Content = said
	written, lost := formattest.Encode(t, gemini.Codec(), doc)
	if diff := cmp.Diff([]string{`assistant: x [c1 sh {}] -> "o"`, "assistant: then"}, formattest.Shown(formattest.MustOpen(t, gemini.Codec(), written)[0].Document)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(strings.Join(lost, "\n"), "images in the result of a call: 1 call") {
		t.Errorf("lost %q", lost)
	}
}

func TestPlace(t *testing.T) {
	for id, want := range map[string]string{"f89390e8-0000": "chats/session-2026-03-03T08-00-f89390e8.jsonl", "a/b": "chats/session-2026-03-03T08-00-a_b.jsonl"} {
		data := strings.Replace(first, "s1", id, 1) + "\n" + `{"id":"m1","timestamp":"2026-03-03T10:00:59.000+02:00","type":"user","content":"Hi"}` + "\n"
		if got, err := gemini.Codec().Place(format.File{Content: strings.NewReader(data), Size: int64(len(data))}, 0); err != nil || got.Path != want {
			t.Errorf("%s: %+v, %v", id, got, err)
		}
	}
	if got, err := gemini.Codec().Place(format.File{Content: strings.NewReader(first), Size: int64(len(first))}, 1); err != nil || got.Path != "chats/session-1970-01-01T00-00-s1-2.jsonl" {
		t.Errorf("without a time: %+v, %v", got, err)
	}
}
