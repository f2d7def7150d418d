package agentchatter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/agentchatter"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

func about(t *testing.T, metadata string) domarkx.Header {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(metadata))
	if err != nil {
		t.Fatal(err)
	}
	h := domarkx.NewHeader()
	h.UserMetadata = &v
	return h
}

// TestIdentify: a session is identified by its team and its own id.
func TestIdentify(t *testing.T) {
	none := format.Identity{}
	for metadata, want := range map[string]format.Identity{
		`{"schemaVersion": "1.0", "teamId": "t", "sessionId": "s"}`:                                                             {ID: `["t","s"]`, Name: "t/s", SessionID: "s"},
		`{"schemaVersion": "1.0", "teamId": "a/b", "sessionId": "c\\d", "createdAt": "c", "updatedAt": "2024-01-01T00:00:00Z"}`: {ID: `["a/b","c\\d"]`, Name: "a-b/c-d", SessionID: `c\d`, CreatedAt: "c", UpdatedAt: "2024-01-01T00:00:00Z", Saved: 1704067200000},
		`{"schemaVersion": "1.0", "teamId": "..", "sessionId": "***"}`:                                                          {ID: `["..","***"]`, Name: "_/_", SessionID: "***"},
		`{"schemaVersion": "1.0", "teamId": "t", "sessionId": "s", "updatedAt": "2024-01-01T00:00:00"}`:                         {ID: `["t","s"]`, Name: "t/s", SessionID: "s", UpdatedAt: "2024-01-01T00:00:00", Saved: 1704067200000},
		`{"schemaVersion": "2.0", "teamId": "t", "sessionId": "s"}`:                                                             none,
		`{"schemaVersion": "1.0", "sessionId": "s"}`:                                                                            none,
		`{"schemaVersion": "1.0", "teamId": "t", "sessionId": ""}`:                                                              none,
		`{"schemaVersion": "1.0", "teamId": 5, "sessionId": "s"}`:                                                               none,
	} {
		if got := agentchatter.Identify(about(t, metadata)); got != want {
			t.Errorf("%s is of %+v, want %+v", metadata, got, want)
		}
	}
	if got := agentchatter.Identify(domarkx.NewHeader()); got != none {
		t.Errorf("a header without metadata is of %+v", got)
	}
}

// TestSavedAt: the time is in the file's name if the program chose it, else in the document.
func TestSavedAt(t *testing.T) {
	document := `{"schemaVersion": "1.0", "context": {"updatedAt": "2020-01-01T00:00:00Z"}, "updatedAt": "2024-01-01T00:00:00Z"}`
	for _, test := range []struct {
		data, name string
		want       format.Saving
		ok         bool
	}{
		{document, "1704067200001-s.json", format.Saving{At: 1704067200001, Group: "s.json"}, true},
		{document, `dir/1704067200001-a-b.json`, format.Saving{At: 1704067200001, Group: "a-b.json"}, true},
		{document, `C:\dir\1704067200001-s.json`, format.Saving{At: 1704067200001, Group: "s.json"}, true},
		{document, "170406720000-s.json", format.Saving{At: 1704067200000}, true},
		{document, "notes.json", format.Saving{At: 1704067200000}, true},
		{document[:len(document)-4], "", format.Saving{At: 0}, false},
		{`{"context": {"updatedAt": "2024-01-01T00:00:00Z"}}`, "", format.Saving{}, false},
		{`{"updatedAt": "yesterday"}`, "", format.Saving{}, false},
		{``, "", format.Saving{}, false},
	} {
		got, ok := agentchatter.SavedAt([]byte(test.data), test.name)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%.20q, %q: %+v, %t, want %+v", test.data, test.name, got, ok, test.want)
		}
	}
}

// TestFork: a fork has an id of its own, and all else of its session.
func TestFork(t *testing.T) {
	c := agentchatter.Codec()
	h, ok := c.Fork(about(t, `{"schemaVersion": "1.0", "teamId": "t", "sessionId": "s", "x": 1}`), format.Fork{UUID: "new", At: time.Unix(0, 0)})
	if want := `{"schemaVersion":"1.0","teamId":"t","sessionId":"new","x":1}`; !ok || h.UserMetadata.JSON() != want {
		t.Errorf("%t, %s", ok, h.UserMetadata.JSON())
	}
	for _, h := range []domarkx.Header{domarkx.NewHeader(), about(t, `{"teamId": "t"}`)} {
		if _, ok := c.Fork(h, format.Fork{UUID: "new"}); ok {
			t.Error("a document of another format was forked")
		}
	}
}

// TestPlaces: names that a file system does not take become others, and attempts differ.
func TestPlaces(t *testing.T) {
	document := func(team, session, updated string) string {
		return jsonvalue.ObjectValue(
			jsonvalue.Member{Name: "schemaVersion", Value: jsonvalue.StringValue("1.0")}, jsonvalue.Member{Name: "teamId", Value: jsonvalue.StringValue(team)},
			jsonvalue.Member{Name: "sessionId", Value: jsonvalue.StringValue(session)}, jsonvalue.Member{Name: "updatedAt", Value: jsonvalue.StringValue(updated)},
			jsonvalue.Member{Name: "context", Value: jsonvalue.ObjectValue(jsonvalue.Member{Name: "messages", Value: jsonvalue.ArrayValue()})}).JSON()
	}
	for _, test := range []struct {
		data    string
		attempt int
		want    string
	}{
		{document("t", "s", "2024-01-01T00:00:00Z"), 0, "t/1704067200000-s.json"},
		{document("t", "s", "2024-01-01T00:00:00Z"), 2, "t/1704067200002-s.json"},
		{document("ä 🎉", "a/b:c*\n", ""), 0, "____/0-a_b_c__.json"},
		{document("t", "s", "1969-01-01T00:00:00Z"), 0, "t/0-s.json"},
		{document(strings.Repeat("t", 300), strings.Repeat("ä", 300), ""), 0, strings.Repeat("t", 223) + "/0-" + strings.Repeat("ä", 111) + ".json"},
		{document("t", "s", "")[:60], 0, "t/0-s.json"}, // it ends in the middle
	} {
		got, err := agentchatter.Place(formattest.File(test.data), test.attempt)
		if err != nil || got.Path != test.want {
			t.Errorf("%.80s: %s, %v, want %s", test.data, got.Path, err, test.want)
		}
	}
	for name, data := range map[string]string{"no team": `{"schemaVersion": "1.0", "sessionId": "s"}`, "not JSON": "x", "empty": ""} {
		if _, err := agentchatter.Place(formattest.File(data), 0); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := formattest.File(document("t", "s", ""))
	f.Content = &formattest.FailingReader{ReaderAt: f.Content}
	if _, err := agentchatter.Place(f, 0); !errors.Is(err, formattest.ErrBroken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestSpeakers: who says a message in the written document.
func TestSpeakers(t *testing.T) {
	for _, test := range []struct {
		name     string
		role     domarkx.Role
		metadata string
		want     string
	}{
		{"a user", domarkx.User, `{}`, `{"id":"human","name":"human","displayName":"Human","type":"human"}`},
		{"an assistant", domarkx.Assistant, `{}`, `{"id":"assistant","name":"assistant","displayName":"Assistant","type":"ai"}`},
		{"the system", domarkx.User, `{"role": "system"}`, `{"id":"system","name":"system","displayName":"System","type":"system"}`},
		{"by name", domarkx.Assistant, `{"speaker": "Ann"}`, `{"id":"Ann","name":"Ann","displayName":"Ann","type":"ai"}`},
		{"by the name alone", domarkx.Assistant, `{"speaker": {"name": "Ann"}}`, `{"id":"Ann","name":"Ann","displayName":"Ann","type":"ai"}`},
		{"by the shown name alone", domarkx.Assistant, `{"speaker": {"displayName": "Ann"}}`, `{"id":"Ann","name":"Ann","displayName":"Ann","type":"ai"}`},
		{"of an older version", domarkx.Assistant, `{"speaker": {"roleId": "a", "roleName": "ann", "roleTitle": "Ann"}}`, `{"id":"a","name":"ann","displayName":"Ann","type":"ai"}`},
		{"of both versions", domarkx.Assistant, `{"speaker": {"id": "b", "roleId": "a", "name": "bob"}}`, `{"id":"b","name":"bob","displayName":"bob","type":"ai"}`},
		{"with another type", domarkx.Assistant, `{"speaker": {"id": "a", "type": "human"}}`, `{"id":"a","name":"a","displayName":"a","type":"ai"}`},
		{"no speaker", domarkx.Assistant, `{"speaker": 5}`, `{"id":"assistant","name":"assistant","displayName":"Assistant","type":"ai"}`},
	} {
		metadata := *about(t, test.metadata).UserMetadata
		doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{{Message: domarkx.Message{Role: test.role, Metadata: &metadata, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "Hi"}}}}}}
		out, _ := formattest.Encode(t, agentchatter.Codec(), doc)
		v, err := jsonvalue.ParseValue([]byte(out))
		if err != nil {
			t.Fatal(err)
		}
		context, _ := v.Get("context")
		messages, _ := context.Get("messages")
		speaker, _ := messages.Items()[0].Get("speaker")
		if speaker.JSON() != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, speaker.JSON(), test.want)
		}
	}
}

// TestLostMetadata: whatever of a message the format has no place for is reported by its path.
func TestLostMetadata(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"id": ""}`:                                               "message_metadata.id: 1 message",
		`{"timestamp": "now"}`:                                     "message_metadata.timestamp: 1 message",
		`{"timestamp": "2024-01-01T00:00:00Z"}`:                    "",
		`{"speaker": {"id": 5}}`:                                   "message_metadata.speaker.id: 1 message",
		`{"speaker": {"id": "a", "mood": 1}}`:                      "message_metadata.speaker.mood: 1 message",
		`{"routing": 5}`:                                           "message_metadata.routing: 1 message",
		`{"routing": {"rawNextMarkers": ["a", 5]}}`:                "message_metadata.routing.rawNextMarkers.1: 1 message",
		`{"routing": {"resolvedAddressees": [{"memberId": "m"}]}}`: "message_metadata.routing.resolvedAddressees.0: 1 message",
		`{"routing": {"resolvedAddressees": [{"identifier": "i", "roleId": "r", "x": 1}]}}`: "message_metadata.routing.resolvedAddressees.0.x: 1 message",
		`{"routing": {"resolvedAddressees": [{"identifier": "i", "memberId": null}]}}`:      "",
		`{"role": "system"}`: "",
		`{"role": "tool"}`:   "message_metadata.role: 1 message",
		`{"mood": "good"}`:   "message_metadata.mood: 1 message",
	} {
		v := *about(t, metadata).UserMetadata
		doc := &domarkx.Document{Header: about(t, `{"schemaVersion": "1.0"}`), Conversation: []domarkx.WrittenMessage{{Message: domarkx.Message{Role: domarkx.User, Metadata: &v, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "Hi"}}}}}}
		_, lost := formattest.Encode(t, agentchatter.Codec(), doc)
		var of []string
		for _, what := range lost {
			if strings.HasSuffix(what, ": 1 message") {
				of = append(of, what)
			}
		}
		if got := strings.Join(of, "\n"); got != want {
			t.Errorf("%s: lost %q, want %q", metadata, got, want)
		}
	}
}
