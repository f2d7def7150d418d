package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

const pixel = "![image](data:image/png;base64,QQ==)"

// TestSay: what records say becomes content blocks.
func TestSay(t *testing.T) {
	for _, test := range []struct{ name, say, want string }{
		{"texts", `["one", "two"]`, "one\n\ntwo"},
		{"empty texts", `["", " \n", "one", {"thought": " "}]`, "one"},
		{"thoughts", `["one", {"thought": "hm"}, "two"]`, "one thought(hm) two"},
		{"a call without a name", `[{"call": "c1"}]`, "[c1 unknown {}] " + noResult},
		{"a call whose arguments are no object", `[{"call": "c1", "tool": "t", "arguments": "ls"}]`, `[c1 t {"input":"ls"}] ` + noResult},
		{"a failure with a code", `[{"call": "c1", "tool": "t"}, {"result": "c1", "failed": true, "code": "denied", "value": "no"}]`, `[c1 t {}] -> failed denied "no"`},
		{"a failure that is no text", `[{"call": "c1", "tool": "t"}, {"result": "c1", "failed": true, "value": {"a": 1}}]`, `[c1 t {}] -> failed failed "{\n  \"a\": 1\n}"`},
		{"two calls with one id", `[{"call": "c1", "tool": "a"}, {"call": "c1", "tool": "b"}, {"result": "c1", "value": 1}, {"result": "c1", "value": 2}]`, `[c1 a {}] -> 2 [c1 b {}] -> 1`},
		{"a result of another message's call beside calls", `[{"call": "c1", "tool": "a"}, {"result": "c2", "value": 1}]`, `[c1 a {}] ` + noResult},
		{"images of a result stand behind it", `[{"call": "c1", "tool": "t"}, {"result": "c1", "value": 1, "images": ["data:image/png;base64,QQ=="]}, "seen"]`, `[c1 t {}] -> 1 ` + pixel + "\n\nseen"},
		{"images of a result that are none", `[{"call": "c1", "tool": "t"}, {"result": "c1", "value": 1, "images": ["data:text/html;base64,QQ==", "http://x/y.png"]}]`, `[c1 t {}] -> 1`},
		{"code", "[\"see\\n\\n```go\\nx\\n```\"]", "see go(x)"},
		{"text that reads as a call", "[\"a\\n\\n```tool-call\\n{\\\"tool\\\": \\\"rm\\\"}\\n```\"]", "a\n\n```tool-call\n{\"tool\": \"rm\"}\n```"},
		{"text that reads as configuration", "[\"```session-config\\n{}\\n```\"]", "```session-config\n{}\n```"},
		{"code with a name", "[\"```sh name=x\\nls\\n```\"]", "```sh name=x\nls\n```"},
		{"an image", `[{"image": "data:image/png;base64,QQ=="}]`, pixel},
		{"an image of no type", `[{"image": "data:;base64,QQ=="}]`, "(no image)"},
		{"an image that ends its line", `[{"image": "data:image/png) [x](y;base64,QQ=="}]`, "(no image)"},
		{"an image without data", `[{"image": "data:image/png;base64,"}]`, "(no image)"},
		{"an image that is no Base64", `[{"image": "data:image/png;base64,Q)Q"}]`, "(no image)"},
		{"an image that is a URL", `[{"image": "https://example.com/x.png"}]`, "(no image)"},
		{"an image as text", `[{"image": "data:image/svg+xml,<svg>"}]`, "(no image)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := open(t, lines(`{"is": "model", "group": "g", "say": `+test.say+`}`))[0].Document
			if diff := cmp.Diff([]string{strings.TrimSpace("assistant: " + test.want)}, formattest.Shown(doc)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnrecorded: where a program records no results, a call says so.
func TestUnrecorded(t *testing.T) {
	agent := toy()
	agent.Unrecorded = true
	data := lines(`{"is": "model", "say": [{"call": "c1", "tool": "ls"}]}`)
	doc, err := transcript.Codec(agent).Decode(source(data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`assistant: [c1 ls {}] -> failed not_recorded "Toy does not record the results of calls"`}, formattest.Shown(doc)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMetadata: the metadata of a message comes from its records.
func TestMetadata(t *testing.T) {
	for _, test := range []struct {
		name         string
		records      []string
		metadata     string
		origin       string
		date         int64
		conversation string
	}{
		{"nothing", []string{`{"is": "user", "text": "Hi"}`}, `{}`, "toy ", 0, ""},
		{"everything", []string{`{"is": "model", "id": "m1", "time": "2026-03-01T10:00:00.5Z", "model": "m", "stop": "end", "cwd": "/w", "branch": "b", "cost": 0.25, "usage": {"input": 1, "output": 4}, "add": {"response_id": "r"}}`},
			`{"id":"m1","model":"m","stop_reason":"end","usage":{"input":1,"cache_read":2,"cache_write":3,"output":4,"reasoning":5},"cwd":"/w","git_branch":"b","response_id":"r","cost":0.25}`, "toy m1", 1772359200, ""},
		{"the first id and time, the last of everything else", []string{`{"is": "model", "id": "m1", "time": "2026-03-01T10:00:00Z", "model": "a", "add": {"x": 1, "y": 2}}`,
			`{"is": "model", "id": "m2", "time": "2026-03-01T11:00:00Z", "model": "b", "add": {"x": 3}}`}, `{"id":"m1","model":"b","y":2,"x":3}`, "toy m1", 1772359200, ""},
		{"a queued prompt", []string{`{"is": "user", "queued": true, "text": "Hi"}`}, `{"queued":true}`, "toy ", 0, ""},
		{"costs that are none", []string{`{"is": "model", "cost": 0}`}, `{}`, "toy ", 0, ""},
		{"costs below zero", []string{`{"is": "model", "cost": -1}`}, `{}`, "toy ", 0, ""},
		{"costs as text", []string{`{"is": "model", "cost": "1"}`}, `{}`, "toy ", 0, ""},
		{"a time before 1970", []string{`{"is": "model", "time": "1969-12-31T23:59:59Z"}`}, `{}`, "toy ", 0, ""},
		{"no time", []string{`{"is": "model", "time": "yesterday"}`}, `{}`, "toy ", 0, ""},
		{"a name that is one of ours", []string{`{"is": "model", "id": "m1", "add": {"id": "m2"}}`}, `{"id":"m2"}`, "toy m1", 0, ""},
	} {
		doc := open(t, lines(test.records...))[0].Document
		m := doc.Conversation[0]
		if got := m.Metadata.JSON(); got != test.metadata {
			t.Errorf("%s: metadata\n%s\nwant\n%s", test.name, got, test.metadata)
		}
		if m.Origin != test.origin || m.Date != test.date {
			t.Errorf("%s: origin %q, date %d", test.name, m.Origin, m.Date)
		}
	}
}

// TestDivide: parts of messages that this program did not make.
func TestDivide(t *testing.T) {
	text := func(s string) domarkx.Block { return domarkx.Block{Type: domarkx.TextBlock, Text: s} }
	call := transcript.Code("tool-call", `{"resource": "shell", "id": "c1", "tool": "ls", "arguments": {"p": 1}}`)
	ls := transcript.Call{Resource: "shell", ID: "c1", Tool: "ls", Arguments: transcript.Object("p", int64(1))}
	said := func(s string) transcript.Part { return transcript.Part{Text: s} }
	for _, test := range []struct {
		name   string
		role   domarkx.Role
		blocks []domarkx.Block
		want   []transcript.Part
	}{
		{"nothing", domarkx.Assistant, nil, nil},
		{"blank text", domarkx.Assistant, []domarkx.Block{text(" \n")}, nil},
		{"text and code", domarkx.User, []domarkx.Block{text("a"), transcript.Code("go", "x"), text("b")}, []transcript.Part{said("a\n\n```go\nx\n```\n\nb")}},
		{"a thought", domarkx.Assistant, []domarkx.Block{text("a"), transcript.Code("thought", "hm"), text("b")}, []transcript.Part{said("a"), {Text: "hm", Thought: true}, said("b")}},
		{"a thought of the user is code", domarkx.User, []domarkx.Block{transcript.Code("thought", "hm")}, []transcript.Part{said("```thought\nhm\n```")}},
		{"a call of the user is code", domarkx.User, []domarkx.Block{transcript.Code("tool-call", `{"tool": "x"}`)}, []transcript.Part{said("```tool-call\n{\"tool\": \"x\"}\n```")}},
		{"a pending call", domarkx.Assistant, []domarkx.Block{call, text("b")}, []transcript.Part{{Call: &ls}, said("b")}},
		{"a call and its result", domarkx.Assistant, []domarkx.Block{call, transcript.Code("tool-result", `{"ok": true, "result": 5}`)},
			[]transcript.Part{{Call: &ls, Result: &transcript.Result{ID: "c1", Value: transcript.Num(5)}}}},
		{"a call that failed", domarkx.Assistant, []domarkx.Block{call, transcript.Code("tool-result", `{"ok": false, "error": {"code": "denied", "message": "no"}}`)},
			[]transcript.Part{{Call: &ls, Result: &transcript.Result{ID: "c1", Failed: true, Code: "denied", Value: transcript.Str("no")}}}},
		{"a result that is no JSON", domarkx.Assistant, []domarkx.Block{call, transcript.Code("tool-result", "plain")},
			[]transcript.Part{{Call: &ls, Result: &transcript.Result{ID: "c1", Value: transcript.Str("plain")}}}},
		{"a result without a call", domarkx.Assistant, []domarkx.Block{text("a"), transcript.Code("tool-result", `{"ok": true, "result": "r"}`)},
			[]transcript.Part{said("a"), {Result: &transcript.Result{Value: transcript.Str("r")}}}},
		{"images behind a result are its own", domarkx.Assistant, []domarkx.Block{call, transcript.Code("tool-result", `{"ok": true, "result": 5}`), text(pixel + "\n" + pixel + "\n\nseen")},
			[]transcript.Part{{Call: &ls, Result: &transcript.Result{ID: "c1", Value: transcript.Num(5), Images: []mdtext.Image{{Type: "image/png", Data: "QQ=="}, {Type: "image/png", Data: "QQ=="}}}}, said("\n\nseen")}},
		{"images behind text behind a result are not", domarkx.Assistant, []domarkx.Block{call, transcript.Code("tool-result", `{"ok": true, "result": 5}`), text("seen\n" + pixel)},
			[]transcript.Part{{Call: &ls, Result: &transcript.Result{ID: "c1", Value: transcript.Num(5)}}, said("seen\n" + pixel)}},
		{"a call without arguments", domarkx.Assistant, []domarkx.Block{transcript.Code("tool-call", `{"tool": "ls", "arguments": [1]}`)},
			[]transcript.Part{{Call: &transcript.Call{Tool: "ls", Arguments: jsonvalue.ObjectValue()}}}},
		{"a call without a tool is text", domarkx.Assistant, []domarkx.Block{transcript.Code("tool-call", `{"arguments": {}}`)}, []transcript.Part{said("```tool-call\n{\"arguments\": {}}\n```")}},
		{"a call that is no JSON is text", domarkx.Assistant, []domarkx.Block{transcript.Code("tool-call", `{"tool": "ls"`)}, []transcript.Part{said("```tool-call\n{\"tool\": \"ls\"\n```")}},
		{"a call with a name is text", domarkx.Assistant, []domarkx.Block{{Type: domarkx.CodeBlock, Language: "tool-call", Text: `{"tool": "ls"}`, HasName: true, Name: "n"}},
			[]transcript.Part{said("```tool-call name=n\n{\"tool\": \"ls\"}\n```")}},
	} {
		got := transcript.Divide(domarkx.Message{Role: test.role, Content: test.blocks})
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty(), cmp.Comparer(jsonvalue.Value.Equal)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestDivideRestores: the texts of a message are exactly the ones that its records had, however they were divided
// into blocks.
func TestDivideRestores(t *testing.T) {
	pieces := []string{"a", "\n", "\n\n", "```go\nx\n```", "~~~\ny\n~~~", "# h", "- i\n", " ", "    indented", "``` \nopen", "> q\n", "\r\n", "```tool-call\n{}\n```", pixel}
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 5), func(s []string) string { return strings.Join(s, "") })
	rapid.Check(t, func(t *rapid.T) {
		var say []jsonvalue.Value
		var want []string // the runs of text
		for i := range rapid.IntRange(1, 4).Draw(t, "runs") {
			if i > 0 {
				say = append(say, transcript.Object("thought", "hm"))
			}
			s := text.Draw(t, "text")
			if say = append(say, transcript.Str(s)); strings.TrimSpace(s) != "" {
				want = append(want, s)
			}
		}
		data := `{"toy": "s"}` + "\n" + transcript.Object("is", "model", "say", transcript.List(say...)).JSON() + "\n"
		doc, err := transcript.Codec(toy()).Decode(source(data))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range transcript.Divide(doc.Conversation[0].Message) {
			if !p.Thought {
				got = append(got, p.Text)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestRuns: how the blocks of a run of text were joined is noted where they do not say it.
func TestRuns(t *testing.T) {
	glue := `["","\n` + "```x" + `\n","\n` + "```" + `\n"]`
	for _, test := range []struct {
		name, say string
		blocks    int
		note      string // of message_metadata
	}{
		{"one text", `"a"`, 1, `{}`},
		{"several", `"a", "bcd"`, 1, `{}`},
		{"code between text that blocks say", `"a\n\n` + "```x" + `\ny\n` + "```" + `"`, 2, `{}`},
		{"code between text that they do not", `"a\n` + "```x" + `\ny\n` + "```" + `\n"`, 2, `{"glue":` + glue + `}`},
		{"special code", `"a\n\n` + "```thought" + `\ny\n` + "```" + `"`, 1, `{}`},
		{"several runs", `"a", {"thought": "b"}, "c"`, 3, `{}`},
		{"one of several", `"a", {"thought": "b"}, "a\n` + "```x" + `\ny\n` + "```" + `\n"`, 4, `{"runs":[null,{"glue":` + glue + `}]}`},
	} {
		m := open(t, lines(`{"is": "model", "say": [`+test.say+`]}`))[0].Document.Conversation[0]
		if len(m.Content) != test.blocks || m.Metadata.JSON() != test.note {
			t.Errorf("%s: %d blocks, metadata %s", test.name, len(m.Content), m.Metadata.JSON())
		}
	}
}

// TestValues: members are read whatever the value is.
func TestValues(t *testing.T) {
	v, err := jsonvalue.ParseValue([]byte(`{"s": "x", "n": 5, "f": 1.5, "big": 9223372036854775808, "o": {"s": "y", "l": [1]}, "z": null}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"s": "x", "n": "", "o/s": "y", "o/l": "", "s/s": "", "none": "", "z": ""} {
		if got := transcript.Text(v, strings.Split(path, "/")...); got != want {
			t.Errorf("the text at %s is %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]int64{"n": 5, "s": 0, "f": 0, "o/l": 0, "none/none": 0, "big": 1<<63 - 1} {
		if got := transcript.Int(v, strings.Split(path, "/")...); got != want {
			t.Errorf("the number at %s is %d, want %d", path, got, want)
		}
	}
	if !transcript.Has(v, "s", "z") || transcript.Has(v, "s", "none") || transcript.Has(transcript.Str("s"), "s") {
		t.Error("Has does not say which members there are")
	}
	built := transcript.Object("value", transcript.List(transcript.Num(1)), "string", "s", "bool", true, "int", int64(2), "left out", nil)
	if got := built.JSON(); got != `{"value":[1],"string":"s","bool":true,"int":2}` {
		t.Errorf("built %s", got)
	}
}
