package agentchatter_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/agentchatter"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decode(t testing.TB, data string) *domarkx.Document {
	t.Helper()
	doc, err := agentchatter.Codec().Decode(format.Source{Path: "s.json", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func encode(t testing.TB, doc *domarkx.Document, to format.Target) string {
	t.Helper()
	data, err := agentchatter.Codec().Encode(doc, to)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestGolden pins what sessions look like as Markdown, and as they are written when
// they were changed. The written document is valid, and reads as the same session.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.json")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, input := range inputs {
		doc := decode(t, string(read(t, input)))
		if doc.Damage != nil {
			t.Errorf("%s: %v", input, doc.Damage)
		}
		md, err := markdown.Encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		formattest.Golden(t, strings.TrimSuffix(input, ".json")+".md", string(md))
		written := encode(t, doc, format.Target{})
		formattest.Golden(t, strings.TrimSuffix(input, ".json")+".out", written)
		again := decode(t, written)
		if again.Damage != nil {
			t.Errorf("%s: what is written is not valid: %v", input, again.Damage)
		}
		if twice := encode(t, again, format.Target{}); twice != written {
			t.Errorf("%s: writing it twice differs:\n%s", input, cmp.Diff(written, twice))
		}
		if a, b := contents(t, string(read(t, input))), contents(t, written); !cmp.Equal(a, b) {
			t.Errorf("%s: contents differ:\n%s", input, cmp.Diff(a, b))
		}
	}
}

// contents are the contents of the messages of a document.
func contents(t testing.TB, data string) []string {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	context, _ := v.Get("context")
	messages, _ := context.Get("messages")
	var all []string
	for _, m := range messages.Items() {
		content, _ := m.Get("content")
		all = append(all, content.Text())
	}
	return all
}

// small is a valid document; change replaces one piece of it.
const small = `{"schemaVersion":"1.0","teamId":"t","sessionId":"s","createdAt":"2024-02-29T10:00:00Z","updatedAt":"2024-02-29T10:00:00Z",` +
	`"context":{"messages":[{"id":"m","timestamp":"2024-02-29T10:00:00Z","speaker":{"id":"h","name":"h","displayName":"H","type":"human"},"content":"hi",` +
	`"routing":{"rawNextMarkers":[],"resolvedAddressees":[{"identifier":"x","memberId":"a","memberName":null}]}}],` +
	`"teamTask":null,"timestamp":1,"version":1},"metadata":{"messageCount":1}}`

func change(old, new string) string {
	if !strings.Contains(small, old) {
		panic(old)
	}
	return strings.Replace(small, old, new, 1)
}

func TestValidity(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{small, ""},
		{small + "\n", ""},
		{"\ufeff" + small, `begins with a byte order mark, expected "{"; it is passed over`},
		{change(`"teamId":"t"`, `"teamId":" "`), ""},
		{change(`"name":"h",`, `"name":"h","roleId":"x",`), ""},
		{change(`{"id":"h","name":"h","displayName":"H",`, `{"roleId":"h","roleName":"h","roleTitle":"H",`), ""},
		{change(`"memberId":"a","memberName":null`, `"roleId":"a","roleName":"b"`), ""},
		{change(`"timestamp":1,`, `"timestamp":1e400,`), ""},

		{change(`"teamId":"t"`, `"teamId":""`), `/teamId: is empty, expected some text`},
		{change(`"teamId":"t",`, ``), `required member "teamId" is missing`},
		{change(`"createdAt":"2024-02-29T`, `"createdAt":"2023-02-29T`), `/createdAt: is "2023-02-29T10:00:00Z", expected a date and time with a zone, as in "2006-01-02T15:04:05.000Z"`},
		{change(`"version":1`, `"version":2`), `/context/version: is 2, expected 1`},
		{change(`"teamTask":null,`, ``), `/context: required member "teamTask" is missing`},
		{change(`"teamTask":null`, `"teamTask":[]`), `/context/teamTask: is an array, expected null or a string`},
		{change(`"messageCount":1`, `"messageCount":-1`), `/metadata/messageCount: is -1, expected 0 or more`},
		{change(`"messageCount":1`, `"messageCount":1.5`), `/metadata/messageCount: is 1.5, expected an integer`},
		{change(`"messageCount":1`, `"messageCount":1,"lastSpeakerId":null`), `/metadata/lastSpeakerId: is null, expected a string`},
		{change(`"type":"human"`, `"type":"robot"`), `/context/messages/0/speaker/type: is "robot", expected one of "ai", "human", "system"`},
		{change(`"displayName":"H",`, ``), `/context/messages/0/speaker: required member "displayName" is missing`},
		{change(`"id":"h",`, `"id":"h","roleId":"h","roleName":"h","roleTitle":"H",`), `/context/messages/0/speaker: has the members of two forms, expected those of one`},
		{change(`"routing":{"rawNextMarkers":[],"resolvedAddressees":[{"identifier":"x","memberId":"a","memberName":null}]}`, `"routing":{}`), ""},
		{change(`"rawNextMarkers":[],`, `"rawNextMarkers":[],"intent":"P2_REPLY",`), `/context/messages/0/routing/intent: is a member that is not known here, expected none of that name`},
		{change(`"content":"hi"`, `"content":null`), `/context/messages/0/content: is null, expected a string`},
	} {
		doc := decode(t, test.text)
		got := ""
		for _, report := range doc.Damage {
			if report.Line == 0 || report.Column == 0 || report.Path != "s.json" {
				t.Errorf("%s: a report without a place: %+v", test.text, report)
			}
			report := *report
			report.Path, report.Line, report.Column = "", 0, 0
			got += report.Error()
		}
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.text, got, test.want)
		}
		written := encode(t, doc, format.Target{})
		if again := decode(t, written); again.Damage != nil {
			t.Errorf("%s: what is written is not valid: %v\n%s", test.text, again.Damage, written)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		text, want  string
		unsupported bool
	}{
		{change(`"1.0"`, `"2.0"`), `s.json:1:18: /schemaVersion: schemaVersion is "2.0", expected "1.0", the only one that is known`, true},
		{change(`"1.0"`, `1.0`), `s.json:1:18: /schemaVersion: schemaVersion is 1.0, expected "1.0", the only one that is known`, true},
		{change(`"schemaVersion":"1.0",`, ``), `s.json:1:1: /schemaVersion: required member "schemaVersion" is missing, expected "1.0"`, true},
		{`[]`, `s.json:1:1: is not an object, expected a session of agent-chatter`, false},
		{small[:20], `s.json:1:21: unexpected end of input in a string, expected '"'`, false},
	} {
		_, err := agentchatter.Codec().Decode(format.Source{Path: "s.json", Data: []byte(test.text)})
		if err == nil || err.Error() != test.want || errors.Is(err, domarkx.ErrUnsupported) != test.unsupported {
			t.Errorf("%s:\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestCutOff: a document that ends anywhere is refused, or read up to there with a
// report.
func TestCutOff(t *testing.T) {
	for n := range len(small) - 1 {
		doc, err := agentchatter.Codec().Decode(format.Source{Data: []byte(small[:n])})
		if err != nil {
			continue
		}
		if len(doc.Damage) != 1 {
			t.Errorf("%s: reports %v, want one", small[:n], doc.Damage)
		}
		whole := n >= strings.Index(small, `"hi"`)+len(`"hi"`)
		if (len(doc.Conversation) == 1) != whole {
			t.Errorf("%s: read as %d messages", small[:n], len(doc.Conversation))
		}
	}
}

// TestReadOn reads what stands behind damage, and not what stands in strings.
func TestReadOn(t *testing.T) {
	message := func(id string) string {
		return `{"id":"` + id + `","timestamp":"2024-02-29T10:00:00Z","speaker":{"id":"h","name":"h","displayName":"H","type":"human"},"content":"{\"speaker\":{},\"content\":1}",` +
			`"routing":{"rawNextMarkers":["]"],"resolvedAddressees":[]}}`
	}
	before, behind, _ := strings.Cut(small, `{"id":"m"`)
	_, behind, _ = strings.Cut(behind, `]}}`)
	document := func(items ...string) string { return before + strings.Join(items, ",") + behind }
	for _, test := range []struct {
		name, text string
		want       string // the ids that are read
		behind     bool   // whether what stands behind the messages is, too
	}{
		{"in the middle", document(message("1"), strings.Replace(message("2"), `"content"`, `"content`, 1), message("3")), "13", true},
		{"a hole", document(message("1"), strings.Repeat("\x00", 100), message("3")), "13", true},
		{"several", document(message("1")[:40], message("2"), `{"id":3`, `}`, message("4")+"x", message("5")), "245", true},
		{"behind the content", document(message("1"), strings.Replace(message("2"), `"routing":`, `"routing"`, 1), message("3")), "123", true},
		{"too deep", document(message("1"), strings.Replace(message("2"), `"content"`, `"x":`+strings.Repeat("[", 998)+strings.Repeat("]", 998)+`,"content"`, 1), message("3")), "13", true},
		{"the last", document(message("1"), message("2")[:100]), "1", true},
		{"the first", document("\x00", message("2")), "2", true},
		{"before the messages", strings.Replace(document(message("1")), `"createdAt":`, `"createdAt"`, 1), "1", true},
		{"behind the messages", strings.Replace(document(message("1")), `"teamTask":`, `"teamTask"`, 1), "1", false},
		{"two documents", document(message("1")) + document(message("2")), "1", true},
	} {
		doc := decode(t, test.text)
		ids := ""
		for _, m := range doc.Conversation {
			id, _ := m.Metadata.Get("id")
			ids += id.Text()
		}
		context, _ := doc.Header.UserMetadata.Get("context")
		if _, ok := context.Get("version"); ids != test.want || ok != test.behind || len(doc.Damage) == 0 {
			t.Errorf("%s: read %s, want %s; what stands behind: %v; %v", test.name, ids, test.want, ok, doc.Damage)
		}
		if id, _ := doc.Header.UserMetadata.Get("sessionId"); id.Text() != "s" {
			t.Errorf("%s: session %q", test.name, id.Text())
		}
		if written := encode(t, doc, format.Target{}); decode(t, written).Damage != nil {
			t.Errorf("%s: what is written is not valid: %s", test.name, written)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		head, name string
		want       bool
	}{
		{small, "", true},
		{small[:60], "x.json", true},
		{small, "x.json.tmp", false},
		{`{"sessionId":"s","x":{},"teamId":`, "", true},
		{`{"context":{"messages":[`, "", true},
		{`{"context":{},"x":{"messages":[`, "", false},
		{`{"sessionId":"s"}`, "", false},
		{`{"schema_version":1,"entries":[]}`, "", false},
		{`{"entries":[],"schemaVersion":"1.0","schema_version":1,"sessionId":"s","teamId":"t"}`, "", false},
		{"# Text", "", false},
	} {
		if got := agentchatter.Detect([]byte(test.head), test.name); got != test.want {
			t.Errorf("%s: got %t", test.head, got)
		}
	}
}

// TestWrite writes a document more than once, also one of messages without ids, and asks for
// one message at a time.
func TestWrite(t *testing.T) {
	doc := decode(t, small)
	for range 3 {
		doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "x"}}}})
	}
	first := doc.Conversation[0]
	named := jsonvalue.ObjectValue(jsonvalue.Member{Name: "id", Value: jsonvalue.StringValue("msg-3")})
	first.Metadata = &named
	doc.Conversation[0] = first
	write, err := agentchatter.Write(doc.Header, inTurn{doc.Conversation}, format.Target{})
	if err != nil {
		t.Fatal(err)
	}
	want := encode(t, doc, format.Target{})
	if !strings.Contains(want, `"id": "msg-3-2"`) {
		t.Errorf("two messages have one id:\n%s", want)
	}
	for range 2 {
		var got bytes.Buffer
		if err := write(&got); err != nil || got.String() != want {
			t.Errorf("%v; (-want +got):\n%s", err, cmp.Diff(want, got.String()))
		}
	}
	if again := decode(t, want); again.Damage != nil {
		t.Error(again.Damage)
	}
}

type inTurn struct{ messages []domarkx.WrittenMessage }

func (m inTurn) Len() int                                 { return len(m.messages) }
func (m inTurn) At(k int) (domarkx.WrittenMessage, error) { return m.messages[k], nil }

func TestPlace(t *testing.T) {
	nasty := read(t, "testdata/nasty.json")
	place, err := agentchatter.Place(format.File{Content: bytes.NewReader(nasty), Size: int64(len(nasty))}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := "_quipe_1__/1709181000002-.._.._etc_passwd.json"; place.Path != want {
		t.Errorf("got %s, want %s", place.Path, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range []string{"nasty", "empty"} {
		data, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	codec := agentchatter.Codec()
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := codec.Decode(format.Source{Data: data})
		if err != nil {
			return
		}
		var lost format.Losses
		written, err := codec.Encode(doc, format.Target{Losses: &lost})
		if err != nil {
			t.Fatal(err)
		}
		again, err := codec.Decode(format.Source{Data: written})
		if err != nil || again.Damage != nil {
			t.Fatalf("%v %v in\n%s\nof\n%s", err, again, written, data)
		}
		rewritten, err := codec.Encode(again, format.Target{})
		if err != nil || !bytes.Equal(written, rewritten) {
			t.Fatalf("%s\nbecame, %v,\n%s", written, err, rewritten)
		}
		if doc.Damage == nil && lost.Len() > 0 {
			t.Fatalf("%q of a valid document is lost:\n%s", lost.Texts(), data)
		}
		if md, err := markdown.Encode(doc); err != nil {
			t.Fatal(err)
		} else if back, err := markdown.Decode(format.Source{Data: md}); err != nil || len(back.Conversation) != len(doc.Conversation) {
			t.Fatalf("as Markdown it does not read back: %v\n%s", err, md)
		}
	})
}
