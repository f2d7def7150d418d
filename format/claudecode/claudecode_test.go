package claudecode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/claudecode"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// TestGolden pins the fixtures, their Markdown, and the transcripts written from them.
func TestGolden(t *testing.T) {
	for name, data := range map[string]string{"session": session(), "hostile": hostile(), "rewound": rewound(), "sub-agent": subAgent()} {
		formattest.Golden(t, "testdata/"+name+".jsonl", data)
		formattest.CheckTranscript(t, claudecode.Codec(), "testdata", name, data)
	}
}

func member(v *jsonvalue.Value, path ...string) jsonvalue.Value {
	m := *v
	for _, name := range path {
		m, _ = m.Get(name)
	}
	return m
}

// TestMessages checks what the specification promises of a session.
func TestMessages(t *testing.T) {
	doc := formattest.MustOpen(t, claudecode.Codec(), session())[0].Document
	first := doc.Conversation[0]
	if first.Date != 1772359201 || first.Origin != "claude-code 00000001-0000-4000-8000-000000000001" {
		t.Errorf("date %d, origin %q", first.Date, first.Origin)
	}
	answer := doc.Conversation[1]
	for path, want := range map[string]string{"usage/input": "3", "usage/cache_read": "9000", "usage/cache_write": "120", "usage/output": "95", "usage/reasoning": "0",
		"model": "claude-opus-4-6", "cwd": "/work/shop", "git_branch": "main", "id": "00000003-0000-4000-8000-000000000003"} {
		if got := member(answer.Metadata, strings.Split(path, "/")...).Text(); got != want {
			t.Errorf("%s is %q, expected %q", path, got, want)
		}
	}
	var languages []string
	for _, b := range answer.Content {
		languages = append(languages, string(b.Type)+" "+b.Language)
	}
	want := []string{"code thought", "text ", "code tool-call", "code tool-result", "code tool-call", "code tool-result"}
	if diff := cmp.Diff(want, languages); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"title": "Checkout: 3 s to 200 ms", "session_id": "5e551017-0000-4000-8000-000000000001", "cwd": "/work/shop"} {
		if got := member(doc.Header.UserMetadata, name).Text(); got != want {
			t.Errorf("%s is %q, expected %q", name, got, want)
		}
	}
	queued := 0
	for _, m := range doc.Conversation {
		if member(m.Metadata, "queued").IsTrue() {
			queued++
		}
	}
	if queued != 2 { // "one more thing", which the agent got, and "never mind", which it did not
		t.Errorf("%d queued prompts", queued)
	}
	if id := claudecode.Codec().Identify(doc.Header); id.Name != "claude-code/2026-03-01-checkout-3-s-to-200-ms" || id.SessionID != "5e551017-0000-4000-8000-000000000001" {
		t.Errorf("identity %+v", id)
	}
}

// TestDamage: what cannot be read is reported by its bytes, and everything else is there.
func TestDamage(t *testing.T) {
	lines := strings.SplitAfter(strings.TrimSuffix(rewound(), "\n"), "\n")
	one, two, three := lines[0], lines[1], lines[2]
	glued := strings.TrimSuffix(one, "\n") + two
	broken := strings.Replace(one, "Begin.", "Be\ngin.", 1)
	for _, test := range []struct {
		name, text string
		want       []string // texts
		report     string   // of the first damage
	}{
		{"sound", one + two + three, []string{"Begin.", "Begun.", "Go left."}, ""},
		{"CRLF", strings.ReplaceAll(one+two, "\n", "\r\n"), []string{"Begin.", "Begun."}, ""},
		{"byte order mark", "\ufeff" + one, []string{"Begin."}, "s.jsonl:1:1: begins with a byte order mark"},
		{"glued", glued + three, []string{"Begin.", "Begun.", "Go left."}, "s.jsonl:1:1: has 2 objects"},
		{"truncated", one + two[:100] + "\n" + three, []string{"Begin.", "Go left."}, "s.jsonl:2:1: bytes 314 to 413 could not be read"},
		{"truncated, then another", one[:100] + two + three, []string{"Begun.", "Go left."}, "s.jsonl:1:1: bytes 0 to 99 could not be read"},
		{"NULs", "\x00\x00" + one + "\x00\x00\x00\n" + two, []string{"Begin.", "Begun."}, "s.jsonl:1:1: has NUL bytes"},
		{"line end in a string", broken + two, []string{"Be\ngin.", "Begun."}, "s.jsonl:1:1: has line ends inside of strings"},
		{"tab in a string", strings.Replace(one, "Begin.", "Be\tgin.", 1) + two, []string{"Be\tgin.", "Begun."}, "s.jsonl:1:1: has control characters"},
		{"no object", one + "17\n" + two, []string{"Begin.", "Begun."}, "s.jsonl:2:1: bytes 314 to 315 could not be read; they are kept in the original: is number"},
		{"unreadable", one + "garbage\n" + two, []string{"Begin.", "Begun."}, "s.jsonl:2:1: bytes 314 to 320 could not be read"},
		{"U+2028", strings.Replace(one, "Begin.", "Be\u2028gin.", 1), []string{"Be\u2028gin."}, ""},
		{"lone surrogate", strings.Replace(one, "Begin.", `Be\ud83dgin.`, 1), []string{"Be\xed\xa0\xbdgin."}, ""},
		{"still written", one + two[:100], []string{"Begin."}, "s.jsonl:2:1: bytes 314 to 413 could not be read"},
		{"twice", one + one + two, []string{"Begin.", "Begun."}, ""},
		{"long", strings.Replace(one, "Begin.", strings.Repeat("x", 10<<20), 1) + two, []string{strings.Repeat("x", 10<<20), "Begun."}, ""},
	} {
		doc := formattest.MustOpen(t, claudecode.Codec(), test.text)[0].Document
		var got []string
		for _, m := range doc.Conversation {
			got = append(got, m.Content[0].Text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %.300q", test.name, got)
		}
		report := ""
		if len(doc.Damage) > 0 {
			report = doc.Damage[0].Error()
		}
		if (report == "") != (test.report == "") || !strings.HasPrefix(report, test.report) {
			t.Errorf("%s: reports %q", test.name, report)
		}
	}
}

// TestPairing: calls and results find each other in any order; single ones stay alone.
func TestPairing(t *testing.T) {
	f := newFixture("5e551017-0000-4000-8000-000000000004")
	f.result("toolu_9", quote("of nothing"), false, "")
	f.answer("msg_1", call("toolu_1", "Bash", "{}"), 1)
	f.answer("msg_2", call("toolu_2", "Bash", "{}"), 1)
	f.result("toolu_2", quote("two"), false, "")
	f.answer("msg_1", text("one goes on"), 7)
	f.result("toolu_1", quote("one"), true, "")
	f.answer("msg_3", call("toolu_3", "Bash", "{}"), 1)
	doc := formattest.MustOpen(t, claudecode.Codec(), f.String())[0].Document
	var got []string
	for _, m := range doc.Conversation {
		said := ""
		for _, b := range m.Content {
			switch v, _ := jsonvalue.ParseValue([]byte(b.Text)); b.Language {
			case "tool-call":
				said += " call " + member(&v, "id").Text()
			case "tool-result":
				said += " result " + member(&v, "result").Text() + member(&v, "error", "message").Text()
			default:
				said += " " + b.Text
			}
		}
		got = append(got, said)
	}
	want := []string{" result of nothing", " call toolu_1 result one one goes on", " call toolu_2 result two", " call toolu_3 result the transcript has no result of this call"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// records draws a transcript.
func records(t *rapid.T) string {
	f := newFixture("5e551017-0000-4000-8000-000000000005")
	f.user("Begin.")
	said := rapid.OneOf(rapid.SampledFrom([]string{"", "Hello", "a\n\n```go\nx\n```\nb", "```tool-call\n{}\n```", "<system-reminder>x</system-reminder>", "## user", " x ", "\u2028", "\x00", "~~~\nopen"}), rapid.String())
	var open, parents []string
	calls, messages := 0, 0
	for range rapid.IntRange(0, 12).Draw(t, "records") {
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			parents = append(parents, f.last)
			f.user(said.Draw(t, "prompt"))
		case 1:
			messages++
			f.answer(strings.Repeat("m", messages), text(said.Draw(t, "answer")), messages)
		case 2:
			f.answer(strings.Repeat("m", max(1, messages)), thought(said.Draw(t, "thought")), messages)
		case 3, 4:
			calls++
			id := strings.Repeat("c", calls)
			open = append(open, id)
			f.answer(strings.Repeat("m", max(1, messages)), call(id, "Bash", `{"command":`+quote(said.Draw(t, "argument"))+`}`), messages)
		case 5, 6:
			if len(open) > 0 {
				k := rapid.IntRange(0, len(open)-1).Draw(t, "call")
				f.result(open[k], quote(said.Draw(t, "result")), rapid.Bool().Draw(t, "failed"), "")
				open = slices.Delete(open, k, k+1)
			}
		case 7:
			f.raw(`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-01T10:00:00.000Z","sessionId":"5e551017-0000-4000-8000-000000000005","content":` + quote(said.Draw(t, "queued")) + `}`)
		case 8:
			f.raw(`{"type":"ai-title","aiTitle":` + quote(said.Draw(t, "title")) + `,"sessionId":"5e551017-0000-4000-8000-000000000005"}`)
		case 9:
			if len(parents) > 0 {
				f.last = rapid.SampledFrom(parents).Draw(t, "parent")
			}
		}
	}
	return f.String()
}

// TestGrowth: reading a transcript in two parts gives the same session as reading it whole.
func TestGrowth(t *testing.T) {
	grew := 0
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(records(t))
		if formattest.CheckGrowth(t, claudecode.Codec(), data, rapid.IntRange(strings.IndexByte(string(data), '\n')+1, len(data)).Draw(t, "cut")) {
			grew++
		}
	})
	if grew == 0 {
		t.Error("nothing was taken for growth")
	}
	data := rewound()
	turn := strings.Index(data, `{"parentUuid":"00000002`)
	if !formattest.CheckGrowth(t, claudecode.Codec(), []byte(data[:strings.LastIndex(data, `{"parentUuid":"00000002`)]), turn) {
		t.Error("one more turn is not growth")
	}
}

func TestAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.CheckAny(t, claudecode.Codec(), []byte(records(t))) })
}

func TestWithstand(t *testing.T) {
	formattest.Fixtures{"session": session()}.Withstand(t, claudecode.Codec(), "checkout")
}

func FuzzDecode(f *testing.F) {
	for _, data := range []string{session(), hostile(), rewound(), subAgent()} {
		f.Add([]byte(data))
		f.Add([]byte(data[:len(data)/2]))
		f.Add([]byte(strings.ReplaceAll(data, "\n", "")))
	}
	f.Fuzz(func(t *testing.T, data []byte) { formattest.CheckAny(t, claudecode.Codec(), data) })
}

func TestDirectoryName(t *testing.T) {
	for cwd, want := range map[string]string{"/home/u/my_repo.git": "-home-u-my-repo-git", `C:\x`: "C--x", "/ä": "--", "": ""} {
		if got := claudecode.DirectoryName(cwd); got != want {
			t.Errorf("%q is %q, want %q", cwd, got, want)
		}
	}
}
