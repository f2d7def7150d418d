package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

const noResult = `-> failed no_result "the transcript has no result of this call"`

// TestMessages: which records become which messages.
func TestMessages(t *testing.T) {
	for _, test := range []struct {
		name    string
		records []string
		want    []string
	}{
		{"no record", nil, nil},
		{"records that are no part of a message", []string{`{"is": "other", "say": ["x"]}`, `{}`}, nil},
		{"answers without a group are joined",
			[]string{`{"is": "user", "text": "Hi"}`, `{"is": "model", "say": ["one"]}`, `{"is": "other"}`, `{"is": "model", "say": ["two"]}`},
			[]string{"user: Hi", "assistant: one\n\ntwo"}},
		{"but not over a prompt",
			[]string{`{"is": "model", "say": ["one"]}`, `{"is": "user", "text": "Hi"}`, `{"is": "model", "say": ["two"]}`},
			[]string{"assistant: one", "user: Hi", "assistant: two"}},
		{"nor over a result",
			[]string{`{"is": "model", "say": [{"call": "c1", "tool": "ls"}]}`, `{"say": [{"result": "c1", "value": "a b"}]}`, `{"is": "model", "say": ["two"]}`},
			[]string{`assistant: [c1 ls {}] -> "a b"`, "assistant: two"}},
		{"nor over a record about them",
			[]string{`{"is": "model", "say": ["one"]}`, `{"is": "about", "model": "m"}`, `{"is": "model", "say": ["two"]}`},
			[]string{"assistant: one", "assistant: two"}},
		{"an answer that is alone joins none, and none joins it",
			[]string{`{"is": "model", "say": ["one"]}`, `{"is": "model", "alone": true, "say": ["two"]}`, `{"is": "model", "say": ["three"]}`},
			[]string{"assistant: one", "assistant: two", "assistant: three"}},
		{"answers of a group are one message, wherever they are",
			[]string{`{"is": "model", "group": "g", "say": ["one"]}`, `{"is": "user", "text": "Hi"}`, `{"is": "model", "group": "g", "say": ["two"]}`},
			[]string{"assistant: one\n\ntwo", "user: Hi"}},
		{"the latest of a group replaces the others",
			[]string{`{"is": "model", "group": "g", "say": ["o"]}`, `{"is": "model", "group": "g", "latest": true, "say": ["one"]}`, `{"is": "user", "text": "Hi"}`},
			[]string{"assistant: one", "user: Hi"}},
		{"a prompt can have a group too",
			[]string{`{"is": "user", "group": "p", "text": "Hi"}`, `{"is": "model", "say": ["Hello"]}`, `{"is": "user", "group": "p", "latest": true, "text": "Hi!"}`},
			[]string{"user: Hi!", "assistant: Hello"}},
		{"calls get their results from anywhere",
			[]string{`{"is": "model", "group": "a", "say": [{"call": "c1", "tool": "ls"}, {"call": "c2", "tool": "cat", "arguments": {"p": 1}}]}`,
				`{"is": "user", "text": "faster"}`, `{"say": [{"result": "c2", "value": {"ok": 1}}]}`, `{"say": [{"result": "c1", "failed": true, "value": "no"}]}`},
			[]string{`assistant: [c1 ls {}] -> failed failed "no" [c2 cat {"p":1}] -> {"ok":1}`, "user: faster"}},
		{"a record with the results of calls of several messages",
			[]string{`{"is": "model", "alone": true, "say": [{"call": "c1", "tool": "a"}]}`, `{"is": "model", "alone": true, "say": [{"call": "c2", "tool": "b"}]}`,
				`{"say": [{"result": "c1", "value": 1}, {"result": "c2", "value": 2}]}`},
			[]string{`assistant: [c1 a {}] -> 1`, `assistant: [c2 b {}] -> 2`}},
		{"a call without a result has an error for one",
			[]string{`{"is": "model", "say": [{"call": "c1", "tool": "ls"}]}`},
			[]string{"assistant: [c1 ls {}] " + noResult}},
		{"the second result of a call is passed over",
			[]string{`{"is": "model", "say": [{"call": "c1", "tool": "ls"}]}`, `{"latest": true, "say": [{"result": "c1", "value": 1}]}`,
				`{"latest": true, "say": [{"result": "c1", "value": 2}]}`},
			[]string{`assistant: [c1 ls {}] -> 1`}},
		{"a result without its call is a message",
			[]string{`{"is": "user", "text": "Hi"}`, `{"say": [{"result": "gone", "value": "late"}]}`, `{"is": "about", "say": ["about nothing"]}`},
			[]string{"user: Hi", `assistant: -> "late"`}},
		{"a record with the same bytes counts once, if it says so",
			[]string{`{"is": "user", "once": "1", "text": "Hi"}`, `{"is": "user", "once": "1", "text": "Hi"}`, `{"is": "user", "once": "1", "text": "Hi again"}`},
			[]string{"user: Hi", "user: Hi again"}},
		{"without that, twice", []string{`{"is": "user", "text": "Hi"}`, `{"is": "user", "text": "Hi"}`}, []string{"user: Hi", "user: Hi"}},
		{"a record about the answer before",
			[]string{`{"is": "model", "say": ["one"]}`, `{"is": "about", "say": ["indeed"]}`},
			[]string{"assistant: one\n\nindeed"}},
		{"a record about the answer of a group that comes later",
			[]string{`{"is": "about", "group": "g", "say": ["(first)"]}`, `{"is": "user", "text": "Hi"}`, `{"is": "model", "group": "g", "say": ["one"]}`},
			[]string{"user: Hi", "assistant: one\n\n(first)"}},
		{"a record about the answer of a group that came",
			[]string{`{"is": "model", "group": "g", "say": ["one"]}`, `{"is": "user", "text": "Hi"}`, `{"is": "about", "group": "g", "say": ["(late)"]}`},
			[]string{"assistant: one\n\n(late)", "user: Hi"}},
		{"a record about no answer",
			[]string{`{"is": "about", "say": ["x"]}`, `{"is": "about", "group": "never", "say": ["x"]}`, `{"is": "user", "text": "Hi"}`},
			[]string{"user: Hi"}},
		{"a queued prompt that no prompt follows counts",
			[]string{`{"is": "user", "queued": true, "text": "wait"}`, `{"is": "user", "text": "Hi"}`},
			[]string{"user: wait", "user: Hi"}},
		{"a queued prompt that another one repeats does not",
			[]string{`{"is": "user", "queued": true, "text": "wait"}`, `{"is": "model", "say": ["one"]}`, `{"is": "user", "text": "wait"}`},
			[]string{"assistant: one", "user: wait"}},
		{"of two queued prompts with one text, the later one counts",
			[]string{`{"is": "user", "queued": true, "text": "wait"}`, `{"is": "user", "queued": true, "text": "wait"}`},
			[]string{"user: wait"}},
		{"records inside of a record",
			[]string{`{"items": [{"is": "user", "text": "Hi"}, {"is": "model", "say": ["Hello"]}, {"items": [{"is": "user", "text": "inner"}]}]}`},
			[]string{"user: Hi", "assistant: Hello", "user: inner"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := open(t, lines(test.records...))
			if diff := cmp.Diff(test.want, formattest.Shown(all[0].Document)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(all) != 1 || all[0].Document.Damage != nil {
				t.Errorf("%d conversations, damage %q", len(all), damage(all[0].Document))
			}
		})
	}
}

// TestBranches: what the user left is a conversation of its own, named by its last message.
func TestBranches(t *testing.T) {
	type branch struct {
		suffix string
		said   []string
	}
	user := func(id, after string) string {
		return fmt.Sprintf(`{"is": "user", "id": %q, "after": %q, "text": "P-%s"}`, id, after, id)
	}
	model := func(id string) string {
		return fmt.Sprintf(`{"is": "model", "group": %q, "id": %q, "say": ["A-%s"]}`, id, id, id)
	}
	main := func(said ...string) branch { return branch{"", said} }
	for _, test := range []struct {
		name    string
		records []string
		want    []branch
	}{
		{"two prompts after the same", []string{user("p1", "0"), model("a1"), user("p2", "a1"), model("a2"), user("p3", "a1"), model("a3")},
			[]branch{main("user: P-p1", "assistant: A-a1", "user: P-p3", "assistant: A-a3"), {".fork-a2", []string{"user: P-p1", "assistant: A-a1", "user: P-p2", "assistant: A-a2"}}}},
		{"the first prompt again", []string{user("p1", "0"), user("p2", "0")},
			[]branch{main("user: P-p2"), {".fork-p1", []string{"user: P-p1"}}}},
		{"a prompt after what is not on the way any more", []string{user("p1", "0"), model("a1"), user("p2", "a1"), user("p3", "0"), user("p4", "a1")},
			[]branch{main("user: P-p3", "user: P-p4"), {".fork-p2", []string{"user: P-p1", "assistant: A-a1", "user: P-p2"}}}},
		{"the last prompt is dropped", []string{user("p1", ""), model("a1"), user("p2", ""), model("a2"), `{"drop": 1}`, user("p3", "")},
			[]branch{main("user: P-p1", "assistant: A-a1", "user: P-p3"), {".fork-a2", []string{"user: P-p1", "assistant: A-a1", "user: P-p2", "assistant: A-a2"}}}},
		{"more prompts are dropped than there are", []string{user("p1", ""), model("a1"), `{"drop": 9}`},
			[]branch{main(), {".fork-a1", []string{"user: P-p1", "assistant: A-a1"}}}},
		{"nothing to drop", []string{`{"drop": 1}`, user("p1", "")}, []branch{main("user: P-p1")}},
		{"back to a message", []string{user("p1", ""), model("a1"), model("a2"), `{"backto": "a2"}`, model("a3")},
			[]branch{main("user: P-p1", "assistant: A-a1", "assistant: A-a3"), {".fork-a2", []string{"user: P-p1", "assistant: A-a1", "assistant: A-a2"}}}},
		{"back to a message that is not there", []string{user("p1", ""), model("a1"), `{"backto": "gone"}`, user("p2", "")},
			[]branch{main("user: P-p2"), {".fork-a1", []string{"user: P-p1", "assistant: A-a1"}}}},
		{"back to a message that was left", []string{user("p1", ""), model("a1"), `{"backto": "a1"}`, model("a2"), `{"backto": "a1"}`},
			[]branch{main(), {".fork-a1", []string{"user: P-p1", "assistant: A-a1"}}, {".fork-a2", []string{"user: P-p1", "assistant: A-a2"}}}},
		{"back, and then a prompt less", []string{user("p1", ""), model("a1"), user("p2", ""), model("a2"), `{"backto": "a2", "drop": 1}`},
			[]branch{main("user: P-p1", "assistant: A-a1"), {".fork-a2", []string{"user: P-p1", "assistant: A-a1", "user: P-p2", "assistant: A-a2"}}}},
		{"the conversation begins anew with what it had", []string{user("p1", ""), model("a1"), `{"clear": true, "items": [` + model("a1") + `]}`, user("p2", "")},
			[]branch{main("assistant: A-a1", "user: P-p2")}},
		{"the conversation begins anew without what it had", []string{user("p1", ""), model("a1"), `{"clear": true, "items": [` + user("p2", "") + `]}`, model("a2")},
			[]branch{main("user: P-p2", "assistant: A-a2"), {".fork-a1", []string{"user: P-p1", "assistant: A-a1"}}}},
		{"a branch that ends with a prompt which did not count", []string{user("p1", ""), `{"is": "user", "queued": true, "text": "P-p2"}`, `{"drop": 1}`, user("p2", "")},
			[]branch{main("user: P-p1", "user: P-p2")}},
		{"branches that end with messages of one id", []string{user("p1", "0"), user("p1", "0"), user("p1", "0")},
			[]branch{main("user: P-p1"), {".fork-p1", []string{"user: P-p1"}}, {".fork-p1-2", []string{"user: P-p1"}}}},
		{"a branch within a branch is one", []string{user("p1", "0"), user("p2", ""), `{"drop": 1}`, `{"drop": 1}`, user("p3", "")},
			[]branch{main("user: P-p3"), {".fork-p2", []string{"user: P-p1", "user: P-p2"}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []branch
			for _, c := range open(t, lines(test.records...)) {
				got = append(got, branch{c.Suffix, formattest.Shown(c.Document)})
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(branch{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSharedMessages: the conversations of a file know which messages they have in common.
func TestSharedMessages(t *testing.T) {
	data := lines(`{"is": "user", "id": "p1", "text": "one"}`, `{"is": "user", "id": "p2", "after": "1", "text": "two"}`, `{"is": "user", "id": "p3", "after": "1", "text": "three"}`)
	type key struct {
		key    uint64
		shared bool
	}
	var keys [][]key
	for s, err := range transcript.Codec(toy()).Open(format.File{Path: "f", Content: strings.NewReader(data), Size: int64(len(data))}) {
		if err != nil {
			t.Fatal(err)
		}
		var of []key
		last := int64(0)
		for k := range s.Messages.Len() {
			id, shared := s.Messages.(format.Shared).Key(k)
			of = append(of, key{id, shared})
			end := s.Messages.(format.Placed).End(k)
			if end <= last || end > int64(len(data)) {
				t.Errorf("message %d ends at %d, the one before at %d", k, end, last)
			}
			last = end
		}
		keys = append(keys, of)
		if last != int64(len(data)) {
			t.Errorf("the last message ends at %d of %d", last, len(data))
		}
	}
	if len(keys) != 2 || len(keys[0]) != 2 || len(keys[1]) != 2 {
		t.Fatalf("keys %v", keys)
	}
	if first := keys[0][0]; first != keys[1][0] {
		t.Errorf("the common message has the keys %v", keys)
	}
	if keys[0][1].key == keys[1][1].key || keys[0][1].shared || keys[1][1].shared {
		t.Errorf("the other messages have the keys %v", keys)
	}
}

// TestOneObject reads files that are one object with an array of records.
func TestOneObject(t *testing.T) {
	want := []string{"user: Hi", "assistant: Hello"}
	records := `[{"is": "user", "text": "Hi"}, {"is": "model", "say": ["Hello"]}]`
	for name, data := range map[string]string{
		"on a line":          `{"toy": "s1", "records": ` + records + `, "title": "T"}`,
		"on several lines":   "{\n \"toy\": \"s1\",\n \"records\": " + strings.ReplaceAll(records, ", {", ",\n  {") + ",\n \"title\": \"T\"\n}\n",
		"with another array": `{"toy": "s1", "x": {"records": [{"is": "user", "text": "no"}]}, "title": "T", "records": ` + records + `}`,
	} {
		c := open(t, data)[0]
		if diff := cmp.Diff(want, formattest.Shown(c.Document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if title := transcript.Text(*c.Document.Header.UserMetadata, "title"); title != "T" {
			t.Errorf("%s: title %q", name, title)
		}
		if c.State != "" || c.Read != 0 { // it does not grow at its end
			t.Errorf("%s: has a state of growth: %q, %d", name, c.State, c.Read)
		}
	}
}

// TestContexts: a message has the context in which it began.
func TestContexts(t *testing.T) {
	var got []string
	agent := toy()
	agent.Say = func(v jsonvalue.Value, m *transcript.Message) {
		got = append(got, m.Context)
		toySay(v, m)
	}
	data := lines(`{"is": "user", "text": "1"}`, `{"context": "plan"}`, `{"is": "user", "text": "2"}`, `{"is": "model", "group": "g"}`,
		`{"context": "work"}`, `{"is": "model", "group": "g"}`, `{"is": "user", "text": "3"}`, `{"context": ""}`, `{"is": "user", "text": "4"}`)
	for s, err := range transcript.Codec(agent).Open(format.File{Content: strings.NewReader(data), Size: int64(len(data))}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Document(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"", "plan", "plan", "plan", "work", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
