package transcript_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// grow reads the additions to a transcript.
func grow(t *testing.T, before, added string) (format.Grown, bool) {
	t.Helper()
	c := open(t, before)[0]
	grown, ok, err := transcript.Codec(toy()).Grow(format.Growth{Path: "s.jsonl", Data: []byte(before + added)[c.Read:], State: c.State, Header: c.Document.Header})
	if err != nil {
		t.Fatal(err)
	}
	return grown, ok
}

// TestGrow: new messages are read alone, and whatever changes something before needs the whole file.
func TestGrow(t *testing.T) {
	prompt, answer := `{"is": "user", "text": "Hi"}`, `{"is": "model", "say": ["Hello"]}`
	call := `{"is": "model", "group": "g", "say": [{"call": "c1", "tool": "ls"}]}`
	for _, test := range []struct {
		name          string
		before, added []string
		want          []string // the added messages; nil if the file has to be read again
	}{
		{"nothing", []string{prompt}, nil, []string{}},
		{"a turn", []string{prompt, answer}, []string{prompt, answer}, []string{"user: Hi", "assistant: Hello"}},
		{"records that are no part of a message", []string{prompt, answer}, []string{`{"is": "other"}`}, []string{}},
		{"an answer that joins the last one", []string{prompt, answer}, []string{answer}, nil},
		{"an answer after a result", []string{prompt, answer}, []string{`{"say": [{"result": "x", "value": 1}]}`, answer}, []string{"assistant: -> 1", "assistant: Hello"}},
		{"an answer of a group from before", []string{prompt, call}, []string{call}, nil},
		{"an answer of another group", []string{prompt, call}, []string{`{"is": "model", "group": "h", "say": ["x"]}`}, []string{"assistant: x"}},
		{"the result of a call from before", []string{prompt, call}, []string{`{"say": [{"result": "c1", "value": 1}]}`}, nil},
		{"the result of a call that has one", []string{prompt, call, `{"say": [{"result": "c1", "value": 1}]}`}, []string{`{"say": [{"result": "c1", "value": 2}]}`}, []string{"assistant: -> 2"}},
		{"a record about the last answer", []string{prompt, answer}, []string{`{"is": "about", "say": ["x"]}`}, nil},
		{"a record about no answer", []string{prompt}, []string{`{"is": "about", "say": ["x"]}`}, []string{}},
		{"a record about the answer of a group from before", []string{call, prompt}, []string{`{"is": "about", "group": "g", "say": ["x"]}`}, nil},
		{"the answer that a record before was about", []string{prompt, `{"is": "about", "group": "g", "say": ["x"]}`}, []string{call}, nil},
		{"a prompt after one that others came after", []string{`{"is": "user", "after": "1", "text": "a"}`}, []string{`{"is": "user", "after": "1", "text": "b"}`}, nil},
		{"a prompt after another one", []string{`{"is": "user", "after": "1", "text": "a"}`}, []string{`{"is": "user", "after": "2", "text": "b"}`}, []string{"user: b"}},
		{"the prompt that was queued", []string{`{"is": "user", "queued": true, "text": "wait"}`}, []string{`{"is": "user", "text": "wait"}`}, nil},
		{"another prompt than the one queued", []string{`{"is": "user", "queued": true, "text": "wait"}`}, []string{prompt}, []string{"user: Hi"}},
		{"a record behind the last one", []string{`{"is": "user", "node": "1", "text": "a"}`}, []string{`{"is": "user", "node": "2", "behind": "1", "text": "b"}`}, []string{"user: b"}},
		{"a record behind an earlier one", []string{`{"is": "user", "node": "1", "text": "a"}`, `{"is": "other", "node": "2", "behind": "1"}`}, []string{`{"is": "user", "node": "3", "behind": "1", "text": "b"}`}, nil},
		{"a record behind none", []string{`{"is": "user", "node": "1", "text": "a"}`}, []string{`{"is": "user", "node": "2", "text": "b"}`}, nil},
		{"going back", []string{prompt, answer}, []string{`{"drop": 1}`}, nil},
		{"going back within what was added", []string{prompt}, []string{prompt, `{"drop": 1}`}, nil},
		{"the conversation begins anew", []string{prompt}, []string{`{"clear": true}`}, nil},
		{"another session", []string{prompt}, []string{`{"toy": "s2"}`}, nil},
		{"another sub-agent", []string{prompt}, []string{`{"sub": "a1"}`}, nil},
		{"a damaged line", []string{prompt, answer}, []string{"garbage", prompt}, []string{"user: Hi"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, added := lines(test.before...), ""
			if len(test.added) > 0 {
				added = strings.Join(test.added, "\n") + "\n"
			}
			grown, ok := grow(t, before, added)
			if ok != (test.want != nil) {
				t.Fatalf("taken for growth: %t", ok)
			}
			formattest.CheckGrowth(t, transcript.Codec(toy()), []byte(before+added), len(before))
			if !ok {
				return
			}
			if diff := cmp.Diff(test.want, append([]string{}, formattest.Shown(&domarkx.Document{Conversation: grown.Messages})...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if grown.Read != int64(len(added)) || grown.State == "" {
				t.Errorf("read %d of %d bytes, state %q", grown.Read, len(added), grown.State)
			}
		})
	}
}

// TestGrowAgain: a file that grew remembers its additions when it grows once more.
func TestGrowAgain(t *testing.T) {
	c := open(t, lines(`{"is": "user", "after": "1", "text": "Hi"}`))[0]
	state, header := c.State, c.Document.Header
	step := func(data string) bool {
		t.Helper()
		grown, ok, err := transcript.Codec(toy()).Grow(format.Growth{Path: "f", Data: []byte(data), State: state, Header: header})
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			state, header = grown.State, grown.Header
		}
		return ok
	}
	for _, added := range []string{`{"is": "model", "group": "g", "say": [{"call": "c", "tool": "t"}]}`, `{"is": "other"}`, `{"is": "user", "after": "2", "text": "and?"}`} {
		if !step(added + "\n") {
			t.Errorf("%s is not taken for growth", added)
		}
	}
	for _, added := range []string{`{"is": "model", "group": "g"}`, `{"say": [{"result": "c"}]}`, `{"is": "user", "after": "1"}`, `{"is": "user", "after": "2"}`} {
		if step(added + "\n") {
			t.Errorf("%s is taken for growth", added)
		}
	}
}

// TestGrowHeader: what the agent says anew about the session is in the header, and what the user changed stays.
func TestGrowHeader(t *testing.T) {
	before := lines(`{"title": "Old", "cwd": "/w", "branch": "main"}`, `{"is": "user", "text": "Hi"}`)
	c := open(t, before)[0]
	header := c.Document.Header
	edited := header.UserMetadata.With("title", transcript.Str("Mine")).With("tags", transcript.List(transcript.Str("t")))
	header.UserMetadata = &edited
	grown, ok, err := transcript.Codec(toy()).Grow(format.Growth{Data: []byte(`{"title": "New", "branch": "next"}` + "\n"), State: c.State, Header: header})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	want := `{"title":"New","agent":"toy","session_id":"s1","cwd":"/w","git_branches":["main","next"],"tags":["t"]}`
	if got := grown.Header.UserMetadata.JSON(); got != want {
		t.Errorf("both changed the title:\n%s\nwant\n%s", got, want)
	}
	grown, ok, err = transcript.Codec(toy()).Grow(format.Growth{Data: []byte(`{"branch": "next"}` + "\n"), State: c.State, Header: header})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	want = `{"title":"Mine","agent":"toy","session_id":"s1","cwd":"/w","git_branches":["main","next"],"tags":["t"]}`
	if got := grown.Header.UserMetadata.JSON(); got != want {
		t.Errorf("the user changed the title:\n%s\nwant\n%s", got, want)
	}
}

// TestGrowRefuses: without a state that fits, a file is read again.
func TestGrowRefuses(t *testing.T) {
	c := open(t, lines(`{"is": "user", "text": "Hi"}`))[0]
	other := domarkx.NewHeader()
	for name, g := range map[string]format.Growth{
		"no state":               {Header: c.Document.Header},
		"a state that is none":   {Header: c.Document.Header, State: "[]"},
		"another format's":       {Header: other, State: c.State},
		"an unfinished line":     {Header: c.Document.Header, State: open(t, lines()+`{"is": "user", "text": "Hi"}`)[0].State, Data: []byte(`{"is": "user"}`)},
		"a line that was unsure": {Header: c.Document.Header, State: open(t, lines()+`garbage{"is": "user", "text": "Hi"}`)[0].State},
	} {
		if grown, ok, err := transcript.Codec(toy()).Grow(g); ok || err != nil || grown.Messages != nil {
			t.Errorf("%s: %v, %t, %v", name, grown, ok, err)
		}
	}
}

// TestGrowOpenLine: the last line may get its line end, or the rest of its record, later.
func TestGrowOpenLine(t *testing.T) {
	record := `{"is": "user", "text": "Hi"}`
	for _, test := range []struct {
		before, added string
		want          []string
	}{
		{lines() + record, "\n" + record + "\n", []string{"user: Hi"}},
		{lines() + record, "\r\n" + record + "\n", []string{"user: Hi"}},
		{lines() + record, "\n", nil},
		{lines() + record[:10], record[10:] + "\n", []string{"user: Hi"}},
		{lines() + record[:10], record[10:], []string{"user: Hi"}},
	} {
		grown, ok := grow(t, test.before, test.added)
		if diff := cmp.Diff(test.want, formattest.Shown(&domarkx.Document{Conversation: grown.Messages})); !ok || diff != "" {
			t.Errorf("%q and %q: %t (-want +got):\n%s", test.before, test.added, ok, diff)
		}
	}
}

// TestGrowLines: damage in an addition is reported with its line in the whole file.
func TestGrowLines(t *testing.T) {
	for _, before := range []string{lines(`{"is": "user", "text": "Hi"}`), strings.TrimSuffix(lines(`{"is": "user", "text": "Hi"}`), "\n")} {
		added := "garbage\n"
		if !strings.HasSuffix(before, "\n") {
			added = "\n" + added
		}
		grown, ok := grow(t, before, added)
		if !ok || len(grown.Damage) != 1 || grown.Damage[0].Line != 3 {
			t.Errorf("%q: %t, %v", before, ok, grown.Damage)
		}
	}
}

// TestGrowState: the stored state of a file has a limit.
func TestGrowState(t *testing.T) {
	answers := func(n int, say string) string {
		var b strings.Builder
		b.WriteString(lines())
		for i := range n {
			fmt.Fprintf(&b, `{"is": "model", "group": "g%d", "say": [%s]}`+"\n", i, fmt.Sprintf(say, i))
		}
		return b.String()
	}
	if state := open(t, answers(5000, `"text %d"`))[0].State; state == "" || len(state) > 2000 {
		t.Errorf("the state of 5000 answers has %d bytes", len(state))
	}
	if state := open(t, answers(1000, `{"call": "c%d", "tool": "t"}`))[0].State; state == "" || len(state) > 6000 {
		t.Errorf("the state of 1000 calls has %d bytes", len(state))
	}
	if state := open(t, answers(1001, `{"call": "c%d", "tool": "t"}`))[0].State; state != "" {
		t.Errorf("more calls wait for a result than are stored, but the state has %d bytes", len(state))
	}
	if state := open(t, lines(`{"title": "half of a pair: \ud83d"}`))[0].State; state != "" {
		t.Errorf("a title that is not UTF-8 is stored: %q", state)
	}
}

// TestGrowOnce: records with the same bytes count once also among additions.
func TestGrowOnce(t *testing.T) {
	c := open(t, lines())[0]
	agent := toy()
	agent.Note = func(v jsonvalue.Value, s *transcript.Session) transcript.Note {
		return transcript.Note{Kind: transcript.Prompt, Once: "1"}
	}
	agent.Say = func(v jsonvalue.Value, m *transcript.Message) { m.Text(transcript.Text(v, "text")) }
	g := format.Growth{State: c.State, Header: c.Document.Header, Data: bytes.Repeat([]byte(`{"text": "x"}`+"\n"), 3)}
	grown, ok, err := transcript.Codec(agent).Grow(g)
	if err != nil || !ok || len(grown.Messages) != 1 {
		t.Errorf("%d messages, %t, %v", len(grown.Messages), ok, err)
	}
}

// record draws a record of any kind, of few names, so that they often refer to each other.
func record(t *rapid.T) string {
	name := func(label string) string { return rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, label) }
	var say []string
	for range rapid.IntRange(0, 2).Draw(t, "items") {
		say = append(say, rapid.SampledFrom([]string{`"text"`, `"# heading\n\n` + "```" + `x name=y\nz\n` + "```" + `"`, `{"thought": "hm"}`, `{"call": "1", "tool": "a"}`, `{"call": "2", "tool": "b", "arguments": [1]}`,
			`{"result": "1", "value": "r"}`, `{"result": "2", "failed": true, "value": {"e": 1}}`, `{"result": "3", "value": null, "images": ["data:image/png;base64,QQ=="]}`}).Draw(t, "item"))
	}
	boolean := func(label string) bool { return rapid.IntRange(0, 5).Draw(t, label) == 0 }
	r := fmt.Sprintf(`{"is": %q, "once": %q, "group": %q, "after": %q, "text": %q, "id": %q, "say": [%s], "alone": %t, "latest": %t, "queued": %t, "context": %q`,
		rapid.SampledFrom([]string{"user", "user", "model", "model", "about", "other"}).Draw(t, "kind"), name("once"), name("group"), name("after"), name("text"), name("id"),
		strings.Join(say, ", "), boolean("alone"), boolean("latest"), boolean("queued"), name("context"))
	switch rapid.IntRange(0, 30).Draw(t, "more") {
	case 0:
		r += `, "drop": 1`
	case 1:
		r += `, "backto": "1"`
	case 2:
		r += `, "items": [` + record(t) + `, 5]`
	case 3:
		r += `, "clear": true, "items": [` + record(t) + `]`
	}
	return r + "}"
}

// TestGrowthIsReadingAgain: whatever the records are, and wherever the file was cut, its growth gives the
// session that the whole file gives.
func TestGrowthIsReadingAgain(t *testing.T) {
	grew := 0
	rapid.Check(t, func(t *rapid.T) {
		var records []string
		for range rapid.IntRange(0, 12).Draw(t, "records") {
			records = append(records, record(t))
		}
		data := []byte(lines(records...))
		if formattest.CheckGrowth(t, transcript.Codec(toy()), data, rapid.IntRange(0, len(data)).Draw(t, "cut")) {
			grew++
		}
	})
	if grew == 0 {
		t.Error("nothing was taken for growth")
	}
}

// TestAnyRecords: whatever the records are, the conversations can be shown, nothing in them runs, and the
// transcripts that are written of them read as the same texts.
func TestAnyRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var records []string
		for range rapid.IntRange(0, 12).Draw(t, "records") {
			records = append(records, record(t))
		}
		formattest.CheckAny(t, transcript.Codec(toy()), []byte(lines(records...)))
	})
}

func FuzzTranscript(f *testing.F) {
	f.Add([]byte(lines(`{"is": "user", "after": "1", "text": "Hi"}`, `{"is": "model", "group": "g", "say": ["x", {"call": "c", "tool": "t"}]}`, `{"say": [{"result": "c", "value": 1}]}`)))
	f.Add([]byte(lines(`{"clear": true, "items": [{"is": "user", "text": "x"}, {"items": [{"is": "model"}]}]}`)))
	f.Add([]byte("{\"toy\": \"s\", \"items\": [{\"is\": \"user\"}],\n\"records\": [{\"is\": \"user\", \"text\": \"Hi\"}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		formattest.CheckAny(t, transcript.Codec(toy()), data)
		if _, err := formattest.Open(transcript.Codec(toy()), data); err == nil {
			formattest.CheckGrowth(t, transcript.Codec(toy()), data, len(data)/2)
		}
	})
}
