package qwen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/qwen"
)

// record returns a record of a type with these parts of its message.
func record(id, kind, parts string) string {
	return fmt.Sprintf(`{"uuid":%q,"parentUuid":null,"sessionId":"s1","timestamp":"2026-03-04T08:00:01.000Z","type":%q,"provenance":"x","cwd":"/work/my_shop","message":{"parts":[%s]}}`, id, kind, parts)
}

// TestRecords: which records become which messages.
func TestRecords(t *testing.T) {
	with := func(record, member string) string { return strings.TrimSuffix(record, "}") + "," + member + "}" }
	for _, test := range []struct {
		name    string
		records []string
		want    []string
	}{
		{"an image alone is a prompt", []string{record("1", "user", `{"inlineData":{"mimeType":"image/png","data":"QQ=="}}`)}, []string{"user: ![image](data:image/png;base64,QQ==)"}},
		{"additions of the program are not the user's", []string{record("1", "user", `{"text":"<system-reminder>x</system-reminder>"},{"text":"Hi"}`), record("2", "user", `{"text":" <system-reminder>x</system-reminder>\n"}`)}, []string{"user: Hi"}},
		{"sub-agents", []string{record("1", "user", `{"text":"Hi"}`), with(record("2", "assistant", `{"text":"inner"}`), `"isSidechain":true`)}, []string{"user: Hi"}},
		{"thoughts, texts and calls", []string{record("1", "assistant", `{"text":"hm","thought":true},{"text":"x"},{"functionCall":{"id":"c1","name":"sh","args":{"a":1}}},{"text":"y"}`), record("2", "tool_result", `{"functionResponse":{"id":"c1","response":{"error":"no"}}}`)},
			[]string{`assistant: thought(hm) x [c1 sh {"a":1}] -> failed failed "no" y`}},
		{"text beside a result", []string{record("1", "assistant", `{"functionCall":{"id":"c1","name":"sh"}}`), record("2", "tool_result", `{"functionResponse":{"id":"c1","response":{"output":"o"}}},{"text":"added"}`)},
			[]string{`assistant: [c1 sh {}] -> "o"`}},
		{"calls and results of the user are not read", []string{record("1", "user", `{"text":"Hi"},{"functionResponse":{"id":"c9","response":{}}},{"functionCall":{"id":"c1","name":"sh"}}`)}, []string{"user: Hi"}},
		{"a thought of the user is text", []string{record("1", "user", `{"text":"Hi","thought":true}`)}, []string{"user: Hi"}},
		{"a record that was written twice", []string{record("1", "user", `{"text":"Hi"}`), record("1", "user", `{"text":"Hi"}`)}, []string{"user: Hi"}},
		{"contents of other kinds", []string{record("1", "user", `5,"x",null`), with(record("2", "assistant", ""), `"message":"x"`), record("3", "of-tomorrow", `{"text":"x"}`)}, []string{"assistant:"}},
	} {
		doc := formattest.MustOpen(t, qwen.Codec(), strings.Join(test.records, "\n")+"\n")[0].Document
		if diff := cmp.Diff(test.want, formattest.Shown(doc)); diff != "" || doc.Damage != nil {
			t.Errorf("%s: damage %v (-want +got):\n%s", test.name, doc.Damage, diff)
		}
	}
}

// TestTitle: the user's name for a session is its title, under both names of the member.
func TestTitle(t *testing.T) {
	for payload, want := range map[string]string{`{"customTitle":"Mine"}`: "Mine", `{"title":"Mine"}`: "Mine", `{"customTitle":""}`: "Hi", `{}`: "Hi", `5`: "Hi"} {
		title := strings.TrimSuffix(record("2", "system", ""), "}") + `,"subtype":"custom_title","systemPayload":` + payload + "}"
		doc := formattest.MustOpen(t, qwen.Codec(), record("1", "user", `{"text":"Hi"}`)+"\n"+title+"\n")[0].Document
		if got, _ := doc.Header.UserMetadata.Get("title"); got.Text() != want {
			t.Errorf("%s: the title is %q, want %q", payload, got.Text(), want)
		}
	}
}

// TestUsage: the usage of a response is that which it was written with.
func TestUsage(t *testing.T) {
	for usage, want := range map[string]string{
		`{"promptTokenCount":100,"candidatesTokenCount":20,"thoughtsTokenCount":3,"cachedContentTokenCount":10}`: `{"input":90,"cache_read":10,"cache_write":0,"output":20,"reasoning":3}`,
		`{"promptTokenCount":5,"cachedContentTokenCount":10}`:                                                    `{"input":0,"cache_read":10,"cache_write":0,"output":0,"reasoning":0}`,
		`"x"`: "null",
	} {
		doc := formattest.MustOpen(t, qwen.Codec(), strings.TrimSuffix(record("1", "assistant", `{"text":"x"}`), "}")+`,"usageMetadata":`+usage+"}\n")[0].Document
		written, _ := formattest.Encode(t, qwen.Codec(), doc)
		for _, doc := range []*domarkx.Document{doc, formattest.MustOpen(t, qwen.Codec(), written)[0].Document} {
			if got, _ := doc.Conversation[0].Metadata.Get("usage"); got.JSON() != want {
				t.Errorf("%s counts as %s, want %s", usage, got.JSON(), want)
			}
		}
	}
}

// TestWrittenChain: each written record has an id of its own and names the one before it.
func TestWrittenChain(t *testing.T) {
	doc := formattest.MustOpen(t, qwen.Codec(), record("1", "user", `{"text":"Hi"}`)+"\n"+record("2", "assistant", `{"functionCall":{"id":"c1","name":"a"}},{"functionCall":{"id":"c2","name":"b"}},{"text":"then"},{"functionCall":{"id":"c3","name":"c"}}`)+"\n"+
		record("3", "tool_result", `{"functionResponse":{"id":"c1","response":{"output":"o"}}}`)+"\n")[0].Document
	content := doc.Conversation[1].Content
	doc.Conversation[1].Content = append(content[:2:2], append([]domarkx.Block{{Type: domarkx.TextBlock, Text: "![image](data:image/png;base64,QQ==)"}}, content[2:]...)...)
	written, lost := formattest.Encode(t, qwen.Codec(), doc)
	seen := map[string]bool{}
	last := "null"
	for line := range strings.Lines(written) {
		v, err := jsonvalue.ParseValue([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		id, _ := v.Get("uuid")
		parent, _ := v.Get("parentUuid")
		if parent.JSON() != last || seen[id.Text()] {
			t.Errorf("the record %s comes after %s, written after %s", id.Text(), parent.JSON(), last)
		}
		seen[id.Text()], last = true, id.JSON()
	}
	if len(seen) != 6 { // a prompt, two steps of an answer, and three results
		t.Errorf("%d records:\n%s", len(seen), written)
	}
	if !strings.Contains(strings.Join(lost, "\n"), "images in the result of a call: 1 call") {
		t.Errorf("lost %q", lost)
	}
}

func TestPlace(t *testing.T) {
	data := record("1", "user", `{"text":"Hi"}`)
	got, err := qwen.Codec().Place(format.File{Content: strings.NewReader(data), Size: int64(len(data))}, 0)
	if err != nil || got != (format.Place{Path: "-work-my-shop/chats/s1.jsonl", ID: `["s1","",""]`}) {
		t.Errorf("%+v, %v", got, err)
	}
}
