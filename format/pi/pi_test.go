package pi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/pi"
)

func fixtures(t testing.TB) formattest.Fixtures {
	f := formattest.Fixtures{"session": session(), "branches": branches(), "hostile": hostile()}
	for _, name := range []string{"v1", "v2"} { // versions of the format before 3
		f[name] = formattest.Read(t, "testdata/"+name+".jsonl")
	}
	return f
}

func TestGolden(t *testing.T)    { fixtures(t).Golden(t, pi.Codec()) }
func TestAny(t *testing.T)       { fixtures(t).Any(t, pi.Codec()) }
func TestGrowth(t *testing.T)    { fixtures(t).Growth(t, pi.Codec()) }
func TestWithstand(t *testing.T) { fixtures(t).Withstand(t, pi.Codec(), "Never mind.") }
func FuzzDecode(f *testing.F)    { fixtures(f).Fuzz(f, pi.Codec()) }

func member(v *jsonvalue.Value, path ...string) string {
	m := *v
	for _, name := range path {
		m, _ = m.Get(name)
	}
	return m.Text()
}

// TestMessages checks what the specification promises of a session.
func TestMessages(t *testing.T) {
	doc := formattest.MustOpen(t, pi.Codec(), session())[0].Document
	answer := doc.Conversation[1]
	if answer.Date != 1771390804 || answer.Origin != "pi a0000004" {
		t.Errorf("date %d, origin %q", answer.Date, answer.Origin)
	}
	for path, want := range map[string]string{"id": "a0000004", "model": "claude-x", "stop_reason": "toolUse", "cost": "0.35", "response_id": "a0000004-1771390803120",
		"usage/input": "12", "usage/cache_read": "5", "usage/cache_write": "6", "usage/output": "34"} {
		if got := member(answer.Metadata, strings.Split(path, "/")...); got != want {
			t.Errorf("%s is %q, expected %q", path, got, want)
		}
	}
	for name, want := range map[string]string{"title": "Clock", "agent": "pi", "session_id": "0b8e0c2e-7c39-4d5f-9a55-3f3d4c7f0a11", "cwd": "/home/ann/clock", "created_at": "2026-02-18T05:00:00.120Z"} {
		if got := member(doc.Header.UserMetadata, name); got != want {
			t.Errorf("%s is %q, expected %q", name, got, want)
		}
	}
	want := format.Identity{ID: `["0b8e0c2e-7c39-4d5f-9a55-3f3d4c7f0a11"]`, SessionID: "0b8e0c2e-7c39-4d5f-9a55-3f3d4c7f0a11", CreatedAt: "2026-02-18T05:00:00.120Z"}
	if diff := cmp.Diff(want, pi.Codec().Identify(doc.Header)); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	data := session()
	place, err := pi.Codec().Place(format.File{Content: strings.NewReader(data), Size: int64(len(data))}, 1)
	if want := (format.Place{Path: "--home-ann-clock--/2026-02-18T05-00-00-120Z_0b8e0c2e-7c39-4d5f-9a55-3f3d4c7f0a11-2.jsonl", ID: want.ID}); err != nil || place != want {
		t.Errorf("place %+v, %v", place, err)
	}
}

const (
	header = `{"type":"session","version":3,"id":"s","timestamp":"2026-02-18T05:00:00.120Z","cwd":"/w"}` + "\n"
	one    = `{"type":"message","id":"e1","parentId":null,"timestamp":"2026-02-18T05:00:01Z","message":{"role":"user","content":"One","timestamp":1}}` + "\n"
	two    = `{"type":"message","id":"e2","parentId":"e1","timestamp":"2026-02-18T05:00:02Z","message":{"role":"user","content":"Two","timestamp":1}}` + "\n"
	three  = `{"type":"message","id":"e3","parentId":"e2","timestamp":"2026-02-18T05:00:03Z","message":{"role":"user","content":"Three","timestamp":1}}` + "\n"
)

// TestTree: the conversation is the way to the last entry, and what else ends is a branch.
func TestTree(t *testing.T) {
	mark := func(id, parent string) string {
		return fmt.Sprintf(`{"type":"label","id":%q,"parentId":%q,"timestamp":"2026-02-18T05:00:04Z","targetId":"e1"}`+"\n", id, parent)
	}
	four := strings.NewReplacer("e3", "e4", "e2", "e1", "Three", "Four").Replace(three)
	for _, test := range []struct {
		name, text string
		want       []string // the texts of each conversation, behind its suffix
		report     string   // begins the first one
	}{
		{"a chain", header + one + two + three, []string{" One Two Three"}, ""},
		{"a branch", header + one + two + three + four, []string{" One Four", ".fork-e3 One Two Three"}, ""},
		{"back to a branch", header + one + two + three + four + mark("l1", "e3"), []string{" One Two Three", ".fork-e4 One Four"}, ""},
		{"a branch that goes on", header + one + two + four + three, []string{" One Two Three", ".fork-e4 One Four"}, ""},
		{"a branch without messages", header + one + two + mark("l1", "e1"), []string{" One", ".fork-e2 One Two"}, ""},
		{"back to the first one", header + one + two + mark("l1", "e2") + mark("l2", "e1"), []string{" One", ".fork-l1 One Two"}, ""},
		{"another first one", header + one + strings.Replace(two, `"e1"`, "null", 1), []string{" Two", ".fork-e1 One"}, ""},
		{"twice", header + one + one + two, []string{" One Two"}, ""},
		{"unknown types are on the way", header + one + strings.Replace(mark("e2", "e1"), "label", "of-tomorrow", 1) + three, []string{" One Three"}, ""},
		{"a lost parent", header + one + three, []string{" Three", ".fork-e1 One"}, `s.jsonl:3:1: follows the record "e2", which is missing`},
		{"a broken parent", header + one + two[:80] + "\n" + three, []string{" One Three"}, "s.jsonl:3:1: bytes "},
		{"a circle", header + strings.Replace(one, "null", `"e2"`, 1) + two, []string{" One Two"}, `s.jsonl:2:1: follows the record "e2", which is missing`},
		{"no id", header + one + strings.Replace(two, `"id":"e2",`, "", 1), []string{" One Two"}, ""},
		{"a second header", header + one + header + two, []string{" One Two"}, ""},
		{"an unknown role", header + one + strings.Replace(two, `"user"`, `"robot"`, 1), []string{" One"}, ""},
	} {
		all := formattest.MustOpen(t, pi.Codec(), test.text)
		var got []string
		for _, c := range all {
			said := c.Suffix
			for _, m := range c.Document.Conversation {
				said += " " + m.Content[0].Text
			}
			got = append(got, said)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		report := ""
		if damage := all[0].Document.Damage; len(damage) > 0 {
			report = damage[0].Error()
		}
		if (report == "") != (test.report == "") || !strings.HasPrefix(report, test.report) {
			t.Errorf("%s: reports %q", test.name, report)
		}
	}
}

// TestForksAreBounded: of a hostile number of branches not all become sessions.
func TestForksAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(header)
	for i := range 1502 {
		b.WriteString(strings.Replace(one, "e1", fmt.Sprint("m", i), 1))
	}
	all := formattest.MustOpen(t, pi.Codec(), b.String())
	if damage := all[0].Document.Damage; len(all) != 1001 || len(damage) != 1 || !strings.Contains(damage[0].Msg, "more branches") {
		t.Errorf("%d sessions, reports %v", len(all), damage)
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		text, want  string
		unsupported bool
	}{
		{strings.Replace(header, "3", "4", 1), "s.jsonl:1:29: /version: version is 4, expected 1, 2 or 3", true},
		{strings.Replace(header, "3", `"3"`, 1), `s.jsonl:1:29: /version: version is "3"`, true},
		{`[{"role":"user","parts":[{"text":"Hi"}]}]`, "s.jsonl:1:1: is a transcript of Gemini", true},
		{`{"type":"session_start","id":"s","title":"New session"}`, "s.jsonl:1:1: is a transcript of Droid", true},
		{`{"id":"T-1","v":1,"messages":[]}`, "s.jsonl:1:1: is a transcript of Amp", true},
		{`{"working_dir":"/","message_count":1}`, "s.jsonl:1:1: is a transcript of Goose", true},
		{`[{"ts":1,"type":"say","say":"text"}]`, "s.jsonl:1:1: is a transcript of Cline", true},
		{"", "s.jsonl:1:1: does not begin like a transcript of pi", false},
		{"{\n{", "s.jsonl:1:1: does not begin like a transcript of pi", false},
		{one + header, "s.jsonl:1:1: does not begin like a transcript of pi", false},
		{`{"type":"session","version":3}`, "s.jsonl:1:1: does not begin like a transcript of pi", false},
	} {
		_, err := pi.Codec().Decode(format.Source{Path: "s.jsonl", Data: []byte(test.text)})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || errors.Is(err, domarkx.ErrUnsupported) != test.unsupported {
			t.Errorf("%s: %v", test.text, err)
		}
		if named := strings.Contains(test.want, "is a transcript of"); named && !pi.Codec().Detect([]byte(test.text), "") {
			t.Errorf("%s: is not recognised", test.text)
		}
	}
	for _, text := range []string{"", "Hello", "# One\n\n" + header, "## user\n\nHi\n", `{"type":"session"}`, `{"version":"1.0"}`, "[1]", "null\n" + header} {
		if pi.Codec().Detect([]byte(text), "") {
			t.Errorf("%q is taken for a transcript", text)
		}
	}
}

// TestFork: a fork is a session of its own that names the file of its parent.
func TestFork(t *testing.T) {
	doc := formattest.MustOpen(t, pi.Codec(), session())[0].Document
	h, ok := pi.Codec().Fork(doc.Header, format.Fork{UUID: "9b8e0c2e-7c39-4d5f-9a55-3f3d4c7f0a11"})
	if !ok {
		t.Fatal("it cannot be forked")
	}
	doc.Header = h
	out, lost := encodeOver(t, doc, session())
	first, entries, _ := strings.Cut(out, "\n")
	if !strings.Contains(first, `"id":"9b8e0c2e-7c39-4d5f-9a55-3f3d4c7f0a11"`) || !strings.Contains(first, `"parentSession":"2026-02-18T05-00-00-120Z_0b8e0c2e-7c39-4d5f-9a55-3f3d4c7f0a11.jsonl"`) {
		t.Error(first)
	}
	if _, want, _ := strings.Cut(session(), "\n"); entries != want || lost != nil {
		t.Errorf("lost %q (-want +got):\n%s", lost, cmp.Diff(want, entries))
	}
}
