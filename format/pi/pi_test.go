package pi_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/pi"
)

func branches(t testing.TB, data string) []formattest.Conversation {
	t.Helper()
	return formattest.MustOpen(t, pi.Codec(), data)
}

func encode(t testing.TB, doc *domarkx.Document) (string, []string) {
	t.Helper()
	return formattest.Encode(t, pi.Codec(), doc)
}

// TestGolden pins the Markdown of transcripts, and the transcripts written from that Markdown:
// one of version 3 without branches keeps its bytes.
func TestGolden(t *testing.T) {
	for _, name := range []string{"v3", "branches", "v1", "v2"} {
		original := formattest.Read(t, "testdata/"+name+".jsonl")
		for _, b := range branches(t, original) {
			if b.Document.Damage != nil {
				t.Errorf("%s: damage: %v", name, b.Document.Damage)
			}
			md, err := markdown.Encode(b.Document)
			if err != nil {
				t.Fatal(err)
			}
			formattest.Golden(t, "testdata/"+name+b.Suffix+".md", string(md))
			again, err := markdown.Decode(format.Source{Data: md})
			if err != nil {
				t.Fatal(err)
			}
			direct, lost := encode(t, b.Document)
			if lost != nil {
				t.Errorf("%s: lost %q", name, lost)
			}
			through, _ := encode(t, again)
			if diff := cmp.Diff(direct, through); diff != "" {
				t.Errorf("%s through Markdown:\n%s", name, diff)
			}
			if name == "v3" {
				if diff := cmp.Diff(original, direct); diff != "" {
					t.Errorf("%s (-original +written):\n%s", name, diff)
				}
			} else {
				formattest.Golden(t, "testdata/"+name+b.Suffix+".written", direct)
			}
			if read := branches(t, direct); read[0].Document.Damage != nil || len(read) != 1 {
				t.Errorf("%s: what was written is not valid: %v", name, read[0].Document.Damage)
			}
		}
	}
}

const (
	header = `{"type":"session","version":3,"id":"s","timestamp":"2026-02-18T05:00:00.120Z","cwd":"/w"}` + "\n"
	one    = `{"type":"message","id":"e1","parentId":null,"timestamp":"2026-02-18T05:00:01Z","message":{"role":"user","content":"One","timestamp":1}}` + "\n"
	two    = `{"type":"message","id":"e2","parentId":"e1","timestamp":"2026-02-18T05:00:02Z","message":{"role":"user","content":"Two","timestamp":1}}` + "\n"
	three  = `{"type":"message","id":"e3","parentId":"e2","timestamp":"2026-02-18T05:00:03Z","message":{"role":"user","content":"Three","timestamp":1}}` + "\n"
)

func TestDamage(t *testing.T) {
	for _, test := range []struct {
		name, text string
		messages   int
		forks      int
		want       string // begins the first report; "" for none
	}{
		{"sound", header + one + two + three, 3, 0, ""},
		{"CRLF", strings.ReplaceAll(header+one+two, "\n", "\r\n"), 2, 0, ""},
		{"no final line end", strings.TrimSuffix(header+one+two, "\n"), 2, 0, ""},
		{"byte order mark", "\ufeff" + header + one, 1, 0, "s.jsonl:1:1: begins with a byte order mark"},
		{"blank lines", header + "\n" + one + " \n" + two, 2, 0, ""},
		{"unknown type", header + one + `{"type":"new","id":"x","parentId":"e1","timestamp":"2026-02-18T05:00:01Z"}` + "\n", 1, 0, ""},

		{"truncated tail", header + one + two[:80], 1, 0, "s.jsonl:3:81: unexpected end of input"},
		{"truncated in the middle", header + one + two[:80] + "\n" + three, 2, 0, "s.jsonl:3:81: unexpected end of input"},
		{"garbage in the middle", header + one + "\x00\x01garbage\n" + three, 2, 0, "s.jsonl:3:1: unexpected"},
		{"two on a line", header + strings.TrimSuffix(one, "\n") + two + three, 3, 0, "s.jsonl:2:1: has 2 objects, expected one on a line"},
		{"NULs", header + "\x00\x00\x00" + one + two, 2, 0, "s.jsonl:2:1: has NUL bytes"},
		{"only NULs", header + one + "\x00\x00\n" + two, 2, 0, "s.jsonl:3:1: unexpected"},
		{"broken before the header", one[:20] + "\n" + header + one, 1, 0, "s.jsonl:1:21: unexpected end"},
		{"no object", header + "5\n" + one, 1, 0, "s.jsonl:2:1: is number, expected an object"},
		{"lost parent", header + one + three, 1, 1, `s.jsonl:3:1: /parentId: the entry "e3" comes after "e2", which does not exist`},
		{"circle", header + strings.Replace(one, "null", `"e2"`, 1) + two, 2, 0, "s.jsonl:3:1: the entries before the last one form a cycle"},
		{"one id twice", header + one + two + strings.Replace(three, `"e3"`, `"e1"`, 1), 2, 1, "s.jsonl:4:1: /id: is the id of an entry before"},
		{"no UTF-8", header + strings.Replace(one, `"content":"`, "\"content\":\"\xff", 1), 1, 0, "s.jsonl:2:116: byte 0xff is not UTF-8"},
		{"second header", header + one + header + two, 2, 0, "s.jsonl:3:1: /type: is a second header"},
		{"schema", header + strings.Replace(one, `"timestamp":1}`, `"timestamp":"x"}`, 1), 1, 0, `s.jsonl:2:133: /message/timestamp: is a string, expected a number`},
		{"unknown role", header + one + strings.Replace(two, `"user"`, `"robot"`, 1), 1, 0, `s.jsonl:3:98: /message/role: is "robot", expected one of`},
		{"no id", header + `{"type":"message","timestamp":"2026-02-18T05:00:01Z","message":{"role":"user","content":"x"}}` + "\n", 1, 0, `s.jsonl:2:1: required member "id" is missing`},
	} {
		all := branches(t, test.text)
		doc := all[0].Document
		got := ""
		if len(doc.Damage) > 0 {
			got = doc.Damage[0].Error()
		}
		if len(doc.Conversation) != test.messages || len(all)-1 != test.forks || (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %d messages, %d forks, %q", test.name, len(doc.Conversation), len(all)-1, got)
		}
		out, _ := encode(t, doc)
		again := branches(t, out)[0].Document
		if len(again.Conversation) != test.messages {
			t.Errorf("%s: written:\n%s", test.name, out)
		}
	}
}

// TestElsewhere: what pi cannot represent is reported as lost, and the written transcript is valid.
func TestElsewhere(t *testing.T) {
	doc, err := markdown.Decode(format.Source{Data: []byte("## user\n\n![Hay](data:image/png;base64,aGk=)\n\n## assistant\n\n![image](data:image/png;base64,aGk=)\n\n" +
		"```tool-call\n{\"resource\": \"pi\", \"tool\": \"look\", \"arguments\": {}}\n```\n\n```tool-result\n{\"ok\": true, \"result\": {\"x\": 1}, \"version\": \"v\"}\n```\n\n" +
		"![image](data:image/png;base64,b25l)\n\n![image](data:image/png;base64,dHdv)\n\nText.\n\n![image](data:image/png;base64,dGhyZWU=)\n\n" +
		"```tool-call\n{\"resource\": \"pi\", \"tool\": \"fail\", \"arguments\": {}}\n```\n\n```tool-result\n{\"ok\": false, \"error\": {\"code\": \"refused\", \"message\": \"no\"}}\n```\n")})
	if err != nil {
		t.Fatal(err)
	}
	out, lost := encode(t, doc)
	want := []string{`message 0: the text "Hay" of a picture`, "message 1: that the result of a call is JSON, which becomes text",
		"message 1: version of the result of a call", "message 1: error.code of the result of a call"}
	if diff := cmp.Diff(want, lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	again := branches(t, out)[0].Document
	if again.Damage != nil {
		t.Errorf("what was written is not valid: %v\n%s", again.Damage, out)
	}
	read, err := markdown.Encode(again)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"aGk=", "b25l", "dHdv", "dGhyZWU="} {
		if n := strings.Count(string(read), part); n != strings.Count("aGk= aGk= b25l dHdv dGhyZWU=", part) {
			t.Errorf("%d pictures %s in\n%s", n, part, read)
		}
	}
	if twice, lost := encode(t, again); twice != out || lost != nil {
		t.Errorf("written again, with %q lost:\n%s", lost, cmp.Diff(out, twice))
	}
}

// TestKept: removing messages that a compaction keeps is reported as a loss.
func TestKept(t *testing.T) {
	const compaction = `{"type":"compaction","id":"c1","parentId":"e3","timestamp":"2026-02-18T05:00:04Z","summary":"So far.","firstKeptEntryId":"e2","tokensBefore":10}` + "\n"
	doc := branches(t, header+one+two+three+compaction)[0].Document
	if _, lost := encode(t, doc); lost != nil {
		t.Errorf("lost %q", lost)
	}
	doc.Conversation = slices.Delete(doc.Conversation, 1, 2)
	out, lost := encode(t, doc)
	if len(lost) != 1 || !strings.Contains(lost[0], `the compaction "c1" keeps: it begins with the entry "e2"`) {
		t.Errorf("lost %q of\n%s", lost, out)
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		text, want  string
		unsupported bool
	}{
		{strings.Replace(header, "3", "4", 1), "s.jsonl:1:29: /version: version is 4, expected 1, 2 or 3", true},
		{strings.Replace(header, "3", `"3"`, 1), `s.jsonl:1:29: /version: version is "3"`, true},
		{"", "s.jsonl:1:1: has no line that can be read", false},
		{"{\n{", "s.jsonl:1:1: has no line that can be read", false},
		{one + header, "s.jsonl:1:1: is not the header of a pi session", false},
		{`{"type":"session","version":3}`, "s.jsonl:1:1: is not the header of a pi session", false},

		{`[{"role":"user","parts":[{"text":"Hi"}]}]`, "s.jsonl:1:1: is a transcript of Gemini", true},
	} {
		_, err := pi.Codec().Decode(format.Source{Path: "s.jsonl", Data: []byte(test.text)})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || errors.Is(err, domarkx.ErrUnsupported) != test.unsupported {
			t.Errorf("%s: %v", test.text, err)
		}
		if named := strings.Contains(test.want, "transcript of"); named && !pi.Detect([]byte(test.text), "") {
			t.Errorf("%s: is not recognised", test.text)
		}
	}
	for _, text := range []string{"", "Hello", "# One\n\n" + header, "## user\n\nHi\n", `{"type":"session"}`, `{"version":"1.0"}`, "[1]", "null\n" + header} {
		if pi.Detect([]byte(text), "") {
			t.Errorf("%q is taken for a transcript", text)
		}
	}
}

// TestWriteKeepsIDs: an id that is made for one message is never that of a message which
// follows.
func TestWriteKeepsIDs(t *testing.T) {
	own := func(id string) *domarkx.Value {
		v, err := domarkx.ParseValue([]byte(`{"entry":{"type":"message","id":"` + id + `","timestamp":"2026-02-18T05:00:01.000Z","message":{"role":"user","content":""}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	said := []domarkx.Block{{Type: domarkx.TextBlock, Text: "said"}}
	ids := func(last string) []string {
		doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{
			{Message: domarkx.Message{Role: domarkx.User, Content: said}},
			{Message: domarkx.Message{Role: domarkx.Assistant, Content: said}},
			{Message: domarkx.Message{Role: domarkx.User, Content: said, Metadata: own(last)}},
		}}
		var lost format.Losses
		data, err := pi.Encode(doc, format.Target{Losses: &lost})
		if err != nil || lost.Len() > 0 {
			t.Fatalf("%v, and %q lost", err, lost.Texts())
		}
		var ids []string
		for line := range bytes.Lines(data) {
			v, err := domarkx.ParseValue(line)
			if err != nil {
				t.Fatal(err)
			}
			id, _ := v.Get("id")
			ids = append(ids, id.Text())
		}
		return ids[1:]
	}
	before := ids("own")
	after := ids(before[0])
	if after[2] != before[0] || after[0] == before[0] || after[0] == "" {
		t.Errorf("ids %q, and %q when the last has that of the first", before, after)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(after))); len(distinct) != 3 {
		t.Errorf("ids %q, expected three", after)
	}
}

// TestDeepLines: a line that is nested too deep for where its entry comes to stand is kept as
// a damaged one.
func TestDeepLines(t *testing.T) {
	said := func(id, parent string) string {
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-02-18T05:00:01.000Z","message":{"role":"user","content":"hello","timestamp":1}}` + "\n"
	}
	const entry = `"id":"b","parentId":"a","timestamp":"2026-02-18T05:00:01.000Z"`
	for name, line := range map[string]string{
		"member":  `{"type":"message",` + entry + `,"message":{"role":"user","content":"x","extra":DEEP}}`,
		"part":    `{"type":"message",` + entry + `,"message":{"role":"user","content":[{"type":"text","text":"x","extra":DEEP}]}}`,
		"call":    `{"type":"message",` + entry + `,"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{"x":DEEP}}]}}`,
		"result":  `{"type":"message",` + entry + `,"message":{"role":"toolResult","toolCallId":"q","content":[],"details":DEEP}}`,
		"custom":  `{"type":"custom",` + entry + `,"data":DEEP}`,
		"two":     `{"type":"custom",` + entry + `,"data":DEEP} {"type":"custom","id":"c","parentId":"b"}`,
		"session": `{"type":"session","id":"s","x":DEEP}`,
	} {
		for _, depth := range []int{900, 980, 985, 990, 993, 994, 995, 996, 997, 998, 999, 1000, 20000} {
			deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
			for _, behind := range []string{"", said("d", `"b"`)} {
				data := `{"type":"session","version":3,"id":"s","timestamp":"2026-02-18T05:00:00.120Z","cwd":"/w"}` + "\n" +
					said("a", "null") + strings.ReplaceAll(line, "DEEP", deep) + "\n" + behind
				doc, err := pi.Codec().Decode(format.Source{Data: []byte(data)})
				if err != nil {
					t.Fatalf("%s of %d levels: %v", name, depth, err)
				}
				for i, m := range doc.Conversation {
					if m.Depth() > domarkx.MaxMessageDepth {
						t.Errorf("%s of %d levels: message %d has %d", name, depth, i, m.Depth())
					}
				}
				if n := doc.Header.Value().Depth(); n > domarkx.MaxDepth {
					t.Errorf("%s of %d levels: the header has %d", name, depth, n)
				}
				if again, err := pi.Encode(doc, format.Target{}); err != nil || !strings.Contains(string(again), deep) {
					t.Errorf("%s of %d levels is not written again: %v", name, depth, err)
				}
			}
		}
	}
}

// TestForksAreBounded: of a hostile number of branches not all become sessions.
func TestForksAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-02-18T05:00:00.120Z","cwd":"/w"}` + "\n")
	for i := range 1502 {
		fmt.Fprintf(&b, `{"type":"message","id":"m%d","parentId":null,"timestamp":"2026-02-18T05:00:01.000Z","message":{"role":"user","content":"x","timestamp":1}}`+"\n", i)
	}
	sessions := 0
	for s, err := range pi.Codec().Open(format.File{Content: strings.NewReader(b.String()), Size: int64(b.Len())}) {
		if err != nil {
			t.Fatal(err)
		}
		if sessions++; sessions == 1 && (len(s.Damage) != 1 || !strings.HasPrefix(s.Damage[0].Msg, "501 more branches ")) {
			t.Errorf("reports %v", s.Damage)
		}
	}
	if sessions != 1001 {
		t.Errorf("%d sessions", sessions)
	}
}
