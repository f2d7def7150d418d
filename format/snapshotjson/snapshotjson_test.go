package snapshotjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/format/snapshotjson"
)

const small = `{"version":"1.0","snapshot_id":"i","metadata":{"import_timestamp":"t"},"execution_config":{},"conversation":[]}`

// change returns the small document with one piece of it replaced.
func change(old, new string) string {
	if !strings.Contains(small, old) {
		panic(old)
	}
	return strings.Replace(small, old, new, 1)
}

func message(m string) string { return change(`[]`, `[`+m+`]`) }

// documents are documents, and the errors of those that are wrong.
var documents = []struct{ text, want string }{
	{small, ""},
	{"\ufeff" + small + "\n", ""},
	{change(`"t"`, `"t","source_file":null,"user_metadata":null,"x":1`), ""},
	{change(`"t"`, `"t","source_file":"a.md","user_metadata":{"title":"T"}`), ""},
	{change(`{},`, `{"engine":"local_shell","timeout":60},"setup_script":{"language":"python","code":""},"x":null,`), ""},
	{change(`{},`, `{},"setup_script":null,`), ""},
	{message(`{"role":"user","content":[]}`), ""},
	{message(`{"role":"assistant","message_metadata":{},"content":[{"type":"text","value":""},{"type":"code","language":"","code":"","name":"n"}],"workspace_version":"x"}`), ""},
	{message(`{"role":"user","message_metadata":null,"content":[{"type":"code","language":"sh","code":"","name":null,"value":1}]}`), ""},

	{change(`{},`, `{"workspace":null},`), ""},
	{change(`{},`, `{"workspace":{"resources":[{"type":"x"},{"type":"x"},{"type":"y","id":"x-3"}]}},`), ""},
	{change(`{},`, `{"workspace":1},`), `s.json:1:104: /execution_config/workspace: is a number, expected an object with a list of resources`},
	{change(`{},`, `{"workspace":{}},`), `s.json:1:104: /execution_config/workspace/resources: the key "resources" is missing, expected a list of resources`},
	{change(`{},`, `{"workspace":{"resources":{}}},`), `s.json:1:117: /execution_config/workspace/resources: is not a list, expected a list of resources`},
	{change(`{},`, "{\"workspace\":\n{\"resources\":{}}},"), `s.json:2:14: /execution_config/workspace/resources: is not a list, expected a list of resources`},
	{change(`{},`, `{"workspace":{"resources":[1]}},`), `s.json:1:118: /execution_config/workspace/resources/0: is a number, expected an object with the key "type"`},
	{change(`{},`, `{"workspace":{"resources":[{"id":"a"}]}},`), `s.json:1:118: /execution_config/workspace/resources/0/type: is missing, expected the type of the resource`},
	{change(`{},`, `{"workspace":{"resources":[{"type":""}]}},`), `s.json:1:126: /execution_config/workspace/resources/0/type: is empty or not a string, expected the type of the resource`},
	{change(`{},`, `{"workspace":{"resources":[{"type":"a b"}]}},`), `s.json:1:126: /execution_config/workspace/resources/0/type: is "a b", which is not a valid resource type`},
	{change(`{},`, `{"workspace":{"resources":[{"type":"x","id":"a"},{"type":"y","id":"a"}]}},`), `s.json:1:157: /execution_config/workspace/resources/1/id: is "a", which is already the id of another resource`},

	{`[]`, `s.json:1:1: the JSON text is an array, expected a snapshot object`},
	{small + `x`, `s.json:1:112: unexpected 'x' after the JSON value, expected the end`},
	{small[:40], `s.json:1:41: unexpected end of input in a string, expected '"'`},
	{change(`"1.0"`, `"2.0"`), `s.json:1:12: /version: version is "2.0", expected "1.0"`},
	{change(`"1.0"`, `1.0`), `s.json:1:12: /version: is a number, expected a string`},
	{change(`"version":"1.0",`, ``), `s.json:1:1: /version: required member "version" is missing, expected a string`},
	{change(`"snapshot_id":"i",`, ``), `s.json:1:1: /snapshot_id: required member "snapshot_id" is missing, expected a string`},
	{change(`"i"`, `""`), `s.json:1:32: /snapshot_id: is empty, expected a unique identifier`},
	{change(`"metadata":{"import_timestamp":"t"},`, ``), `s.json:1:1: /metadata: required member "metadata" is missing, expected an object`},
	{change(`"import_timestamp":"t"`, ``), `s.json:1:47: /metadata/import_timestamp: required member "import_timestamp" is missing, expected a string`},
	{change(`"t"`, `""`), `s.json:1:67: /metadata/import_timestamp: is empty, expected an ISO 8601 timestamp`},
	{change(`"t"`, `"t","source_file":1`), `s.json:1:85: /metadata/source_file: is a number, expected a string`},
	{change(`"t"`, `"t","user_metadata":"x"`), `s.json:1:87: /metadata/user_metadata: is a string, expected an object`},
	{change(`"execution_config":{},`, ``), `s.json:1:1: /execution_config: required member "execution_config" is missing, expected an object`},
	{change(`"execution_config":{}`, `"execution_config":null`), `s.json:1:91: /execution_config: is null, expected an object`},
	{change(`{},`, `{},"setup_script":{"language":"x"},`), `s.json:1:109: /setup_script/code: required member "code" is missing, expected a string`},
	{change(`{},`, `{},"setup_script":{"code":"x"},`), `s.json:1:109: /setup_script/language: required member "language" is missing, expected a string`},
	{change(`,"conversation":[]`, ``), `s.json:1:1: /conversation: required member "conversation" is missing, expected an array`},
	{change(`[]`, `null`), `s.json:1:109: /conversation: is null, expected an array`},
	{message("\n{}"), `s.json:2:1: /conversation/0/role: required member "role" is missing, expected a string`},
	{message(`{"role":"user","content":[]},{"role":"User","content":[]}`), `s.json:1:147: /conversation/1/role: role is "User", expected "user" or "assistant"`},
	{message(`{"role":"user"}`), `s.json:1:110: /conversation/0/content: required member "content" is missing, expected an array`},
	{message(`{"role":"user","content":[{"type":"image"}]}`), `s.json:1:144: /conversation/0/content/0/type: type is "image", expected "text" or "code"`},
	{message(`{"role":"user","content":[{"value":"x"}]}`), `s.json:1:136: /conversation/0/content/0/type: required member "type" is missing, expected a string`},
	{message(`{"role":"user","content":[{"type":"text","code":"x"}]}`), `s.json:1:136: /conversation/0/content/0/value: required member "value" is missing, expected a string`},
	{message(`{"role":"user","content":[{"type":"code","code":"x"}]}`), `s.json:1:136: /conversation/0/content/0/language: required member "language" is missing, expected a string`},
	{message(`{"role":"user","content":[{"type":"code","code":"x","language":"","name":0}]}`), `s.json:1:183: /conversation/0/content/0/name: is a number, expected a string`},
}

func TestDecode(t *testing.T) {
	for _, test := range documents {
		doc, err := snapshotjson.Decode(format.Source{Path: "s.json", Data: []byte(test.text)})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.text, got, test.want)
		}
		if err != nil {
			continue
		}
		written, err := snapshotjson.Encode(doc)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		}
		again, err := snapshotjson.Decode(format.Source{Data: written})
		if err != nil {
			t.Errorf("%s: %v", written, err)
		} else if diff := cmp.Diff(plain(t, []byte(test.text)), plain(t, written)); diff != "" {
			t.Errorf("%s: changed by writing (-want +got):\n%s", test.text, diff)
		} else if rewritten, err := snapshotjson.Encode(again); err != nil || !bytes.Equal(written, rewritten) {
			t.Errorf("%s: writing it twice gives\n%s, %v", written, rewritten, err)
		}
	}
}

// plain is a document as encoding/json sees it.
func plain(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestUnknownVersionIsUnsupported(t *testing.T) {
	_, err := snapshotjson.Decode(format.Source{Data: []byte(change(`"1.0"`, `"1.1"`))})
	if !errors.Is(err, domarkx.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

// TestSchemaAgrees: the codec accepts exactly what the schema accepts.
func TestSchemaAgrees(t *testing.T) {
	text, err := os.ReadFile("snapshot.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(string(text))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, test := range documents {
		v, err := jsonvalue.ParseValue([]byte(strings.TrimPrefix(test.text, "\ufeff")))
		if err != nil {
			continue // not JSON: nothing that a schema could judge
		}
		checked++
		if reports := s.Check(v, nil); (len(reports) == 0) != (test.want == "") && !strings.Contains(test.want, "the id of another resource") { // more than a schema can say
			t.Errorf("%s: the schema reports %v, the codec %q", test.text, reports, test.want)
		}
	}
	if checked < len(documents)-2 {
		t.Errorf("only %d of %d documents were compared", checked, len(documents))
	}
}

func TestEncodeGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/session.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := snapshotjson.Decode(format.Source{Path: "testdata/session.json", Data: text})
	if err != nil {
		t.Fatal(err)
	}
	written, err := snapshotjson.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(written)); diff != "" {
		t.Errorf("(-golden +got):\n%s", diff)
	}
}

func TestEncodeNeedsAnIdentity(t *testing.T) {
	for _, h := range []domarkx.Header{{SnapshotID: "i"}, {ImportTimestamp: "t"}} {
		if _, err := snapshotjson.Encode(&domarkx.Document{Header: h}); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%+v: got %v, want ErrInvalid", h, err)
		}
	}
}

// broken is a writer that fails after so many writes.
type broken struct{ writes int }

var errBroken = errors.New("no space")

func (b *broken) Write(p []byte) (int, error) {
	if b.writes--; b.writes < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestWriterPassesErrorsOn(t *testing.T) {
	for writes := range 3 {
		w, err := snapshotjson.NewWriter(&broken{writes}, domarkx.Header{SnapshotID: "i", ImportTimestamp: "t"})
		if err == nil {
			err = w.WriteMessage(domarkx.Message{Role: domarkx.User})
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("after %d writes: got %v, want the writer's error", writes, err)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		head string
		want bool
	}{
		{small, true},
		{"\ufeff \n" + small[:60], true},
		{`{"metadata": {"conversation": 1}, "conversation"  :`, true},
		{`{"conversation": []}`, true},
		{`{"name": "package", "version": "1.0.0"}`, false},
		{`{"metadata": {"snapshot_id": "x"}}`, false},
		{`{"a": "snapshot_id"}`, false},
		{`{"a": "\"snapshot_id\": "}`, false},
		{`{"a": {}} "snapshot_id": 1`, false},
		{`{"snapshot_id`, false},
		{`["snapshot_id"]`, false},
		{``, false},
		{`# Title`, false},
	} {
		if got := snapshotjson.Detect([]byte(test.head), "x.json"); got != test.want {
			t.Errorf("%s: got %t", test.head, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, test := range documents {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := snapshotjson.Decode(format.Source{Data: data})
		if err != nil {
			return
		}
		written, err := snapshotjson.Encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		again, err := snapshotjson.Decode(format.Source{Data: written})
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if !again.Header.Value().Equal(doc.Header.Value()) || len(again.Conversation) != len(doc.Conversation) {
			t.Fatalf("%s\nbecame\n%s", data, written)
		}
		for i, m := range again.Conversation {
			if !m.Equal(doc.Conversation[i].Message) {
				t.Fatalf("message %d of\n%s\nbecame\n%s", i, data, written)
			}
		}
	})
}
