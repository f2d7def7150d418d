package cursor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/cursor"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// TestLines: which lines become which messages.
func TestLines(t *testing.T) {
	line := func(role, content string) string {
		return `{"role":"` + role + `","message":{"content":[` + content + `]}}`
	}
	const unrecorded = `-> failed not_recorded "Cursor does not record the results of calls"`
	for _, test := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"a query", []string{line("user", `{"type":"text","text":"<user_query>\nHi\n</user_query>"}`)}, []string{"user: Hi"}},
		{"a prompt without elements", []string{line("user", `{"type":"text","text":"Hi <b>there</b>, you"}`)}, []string{"user: Hi <b>there</b>, you"}},
		{"a query that does not end", []string{line("user", `{"type":"text","text":"<user_query>Hi"}`)}, []string{"user: <user_query>Hi"}},
		{"additions of the program", []string{line("user", `{"type":"text","text":"<attached_files>x</attached_files>"}`), line("assistant", `{"type":"text","text":"a"}`)}, []string{"assistant: a"}},
		{"each line of an answer is a message", []string{line("assistant", `{"type":"text","text":"a"}`), line("assistant", `{"type":"text","text":"b"}`)}, []string{"assistant: a", "assistant: b"}},
		{"redacted reasoning", []string{line("assistant", `{"type":"text","text":" [REDACTED]\n"},{"type":"text","text":"a\n\n[REDACTED]"},{"type":"text","text":"[REDACTED] is a word"}`)}, []string{"assistant: a\n\n\n\n[REDACTED] is a word"}},
		{"a call", []string{line("assistant", `{"type":"tool_use","id":"c1","name":"Read","input":{"p":1}}`)}, []string{`assistant: [c1 Read {"p":1}] ` + unrecorded}},
		{"a role of tomorrow", []string{line("assistant", ``), `{"role":"tool","message":{"content":[]}}`}, []string{"assistant:"}},
	} {
		doc := formattest.MustOpen(t, cursor.Codec(), strings.Join(test.lines, "\n")+"\n")[0].Document
		if diff := cmp.Diff(test.want, formattest.Shown(doc)); diff != "" || doc.Damage != nil {
			t.Errorf("%s: damage %v (-want +got):\n%s", test.name, doc.Damage, diff)
		}
	}
}

// TestCallIDs: calls without ids get ones of their own, the same in each reading.
func TestCallIDs(t *testing.T) {
	data := `{"role":"assistant","message":{"content":[` + strings.Repeat(`{"type":"tool_use","name":"Read","input":{}},`, 59) + `{"type":"tool_use","name":"Read","input":{}}]}}` + "\n"
	ids := func() []string {
		var all []string
		for _, b := range formattest.MustOpen(t, cursor.Codec(), data)[0].Document.Conversation[0].Content {
			if v, _ := jsonvalue.ParseValue([]byte(b.Text)); b.Language == "tool-call" {
				id, _ := v.Get("id")
				all = append(all, id.Text())
			}
		}
		return all
	}
	first := ids()
	seen := map[string]bool{}
	for _, id := range first {
		if seen[id] {
			t.Errorf("two calls have the id %s", id)
		}
		seen[id] = true
	}
	if diff := cmp.Diff(first, ids()); len(first) != 60 || diff != "" {
		t.Errorf("%d calls (-first +again):\n%s", len(first), diff)
	}
}

// TestTimes: the time of a prompt is that of its answers.
func TestTimes(t *testing.T) {
	data := `{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>2026-03-06T08:00:00Z</timestamp><user_query>Hi</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}
{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>Friday</timestamp><user_query>And?</user_query>"}]}}
`
	var dates []int64
	for _, m := range formattest.MustOpen(t, cursor.Codec(), data)[0].Document.Conversation {
		dates = append(dates, m.Date)
	}
	if diff := cmp.Diff([]int64{1772784000, 1772784000, 0}, dates); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadOnly: transcripts of Cursor cannot be written.
func TestReadOnly(t *testing.T) {
	c := cursor.Codec()
	if _, err := c.Encode(&domarkx.Document{}, format.Target{}); !errors.Is(err, domarkx.ErrUnsupported) || c.Write != nil || c.Fork != nil || c.Place != nil {
		t.Errorf("it can be written: %v", err)
	}
}
