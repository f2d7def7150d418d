package openpocket_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/openpocket"
)

func decode(t testing.TB, data string) *domarkx.Document {
	t.Helper()
	doc, err := openpocket.Decode(format.Source{Path: "session-x.md", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func encode(t testing.TB, doc *domarkx.Document) (string, []string) {
	t.Helper()
	var lost format.Losses
	out, err := openpocket.Codec().Encode(doc, format.Target{Losses: &lost})
	if err != nil {
		t.Fatal(err)
	}
	return string(out), lost.Texts()
}

// TestGolden pins the Markdown of a session, and that encoding it, directly or from the Markdown,
// restores the program's bytes.
func TestGolden(t *testing.T) {
	original := formattest.Read(t, "testdata/alarm.session")
	doc := decode(t, original)
	if doc.Damage != nil {
		t.Errorf("damage: %v", doc.Damage)
	}
	md, err := markdown.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	formattest.Golden(t, "testdata/alarm.md", string(md))
	again, err := markdown.Decode(format.Source{Data: md})
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string]*domarkx.Document{"decoded": doc, "from Markdown": again} {
		out, lost := encode(t, doc)
		if diff := cmp.Diff(original, out); diff != "" {
			t.Errorf("%s (-original +written):\n%s", name, diff)
		}
		if lost != nil {
			t.Errorf("%s: lost %q", name, lost)
		}
	}
}

const (
	head  = "# OpenPocket Session\n\n- id: 20260218-130000\n- started_at: 2026-02-18T05:00:00.120Z\n- model_profile: p\n- model_name: m\n\n## Task\n\nT\n\n## Steps\n\n"
	step1 = "### Step 1\n\n- at: 2026-02-18T05:00:04.000Z\n- thought:\n```text\nhm\n```\n- action:\n```json\n{}\n```\n- execution_result:\n```text\nok\n```\n"
	final = "## Final\n\n- status: SUCCESS\n- ended_at: 2026-02-18T05:00:20.000Z\n\n### Message\n\nDone.\n"
)

func TestDamage(t *testing.T) {
	for _, test := range []struct {
		text     string
		messages int
		want     string // begins the first report; "" for none
	}{
		{head + step1 + final, 3, ""},
		{head + final, 2, ""},
		{strings.Replace(head, "\nT\n", "\n\n", 1) + final, 2, ""},

		// Two sessions within one second share a file.
		{head + step1 + step1 + final + final, 5, "session-x.md:52:1: continues after the final message"},
		{head + final + step1 + final, 4, "session-x.md:22:1: continues after the final message"},

		{head + step1, 2, "session-x.md:29:1: ends without a final message"},
		{head, 1, "session-x.md:14:1: ends without a final message"},
		{head + step1[:60] + step1 + final, 3, "session-x.md:14:1: is not a complete step"},
		{head + step1 + final[:40], 3, "session-x.md:29:1: is not a complete step or final message"},
		{head + strings.Replace(step1, "hm", "hm\n```\n- action:\n```json\n[]\n```\n- execution_result:\n```text\nx", 1) + final, 3, "session-x.md:14:1: step 1 can be read in more than one way"},
		{head + strings.Replace(step1, "hm", "hm\n"+step1[:70], 1) + final, 3, "session-x.md:14:1: step 1 can be read in more than one way"},
		{head + strings.Replace(step1, "{}", "tap", 1) + final, 3, "session-x.md:14:1: the action of step 1 is not a JSON object"},
		{head + step1 + strings.Replace(final, "SUCCESS", "MAYBE", 1), 3, `session-x.md:29:1: status is "MAYBE", expected SUCCESS or FAILED`},
		{strings.Replace(head, "20260218-130000", "today", 1) + final, 2, `session-x.md:3:1: id is "today"`},
		{strings.Replace(head, "2026-02-18T05:00:00.120Z", "noon", 1) + final, 2, `session-x.md:4:1: started_at is "noon"`},
		{head[:60], 0, "session-x.md:4:17: the header is cut off"},
		{head + "\xff" + step1 + final, 3, "session-x.md:14:1: byte 0xff is not UTF-8"},
		{strings.Replace(head, "20260218-130000", "20261318-130000", 1) + final, 2, `session-x.md:3:1: id is "20261318-130000"`},
		{head + step1 + "\x00\x00" + step1 + final, 5, "session-x.md:29:1: is not a complete step or final message"},
		{head + step1 + final + "\x00", 4, "session-x.md:37:1: is not a complete step or final message"},
	} {
		doc := decode(t, test.text)
		got := ""
		if len(doc.Damage) > 0 {
			got = doc.Damage[0].Error()
		}
		if len(doc.Conversation) != test.messages || (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%q:\ngot  %d messages, %q\nwant %d messages, %q", test.text, len(doc.Conversation), got, test.messages, test.want)
		}
		out, lost := encode(t, doc)
		if lost == nil && !strings.Contains(test.text, "\xff") && out != test.text {
			t.Errorf("written again (-original +written):\n%s", cmp.Diff(test.text, out))
		}
		if again := decode(t, out); len(again.Conversation) < len(doc.Conversation) {
			t.Errorf("of %d messages %d were written again:\n%s", len(doc.Conversation), len(again.Conversation), out)
		}
	}
	// Changes that other tools commonly make to the program's files do not change their meaning.
	plain := decode(t, head+step1+final)
	for text, want := range map[string]string{
		"\ufeff" + head + step1 + final:                         "session-x.md:1:1: begins with a byte order mark",
		strings.ReplaceAll(head+step1+final, "\n", "\r\n"):      "session-x.md:1:1: has line ends of Windows",
		strings.TrimSuffix(head+step1+final, "\n"):              "session-x.md:36:6: the last line of the final message has no end",
		strings.TrimSuffix(head+step1+final, "\n") + "\x00\x00": "session-x.md:36:6: the last line of the final message has no end",
	} {
		doc := decode(t, text)
		if len(doc.Damage) == 0 || !strings.HasPrefix(doc.Damage[0].Error(), want) {
			t.Errorf("%q: %v, want %s", text, doc.Damage, want)
		}
		if diff := cmp.Diff(plain.Conversation, doc.Conversation[:3]); diff != "" {
			t.Errorf("%q (-plain +got):\n%s", text, diff)
		}
	}
	if _, err := openpocket.Decode(format.Source{Path: "x.md", Data: []byte("# Something\n")}); err == nil || err.Error() != `x.md:1:1: expected "# OpenPocket Session", an empty line and "- id: "` {
		t.Errorf("got %v", err)
	}
}

// TestForeign encodes a session that the program did not write.
func TestForeign(t *testing.T) {
	doc, err := markdown.Decode(format.Source{Data: []byte("---\ntitle: Hay\n---\n\n## user\n\nMow.\n\n## assistant\n\nFirst I look.\n\n" +
		"```tool-call\n{\"resource\":\"barn\",\"tool\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```\n\n```tool-result\n{\"ok\":true,\"result\":{\"n\":1}}\n```\n\n" +
		"## user\n\nAnd?\n\n## assistant\n\nIt is mown.\n\n## Final\n\nReally.\n")})
	if err != nil {
		t.Fatal(err)
	}
	doc.Header.ImportTimestamp = "2026-01-02T03:04:05Z"
	out, lost := encode(t, doc)
	const want = "# OpenPocket Session\n\n- id: 20260102-030405\n- started_at: 2026-01-02T03:04:05.000Z\n- model_profile: \n- model_name: \n\n## Task\n\nMow.\n\n## Steps\n\n" +
		"### Step 1\n\n- at: 2026-01-02T03:04:05.000Z\n- thought:\n```text\nFirst I look.\n```\n- action:\n```json\n{\n  \"type\": \"read_file\",\n  \"path\": \"a\"\n}\n```\n" +
		"- execution_result:\n```text\n{\n  \"n\": 1\n}\n```\n" +
		"## Final\n\n- status: SUCCESS\n- ended_at: 2026-01-02T03:04:05.000Z\n\n### Message\n\nIt is mown.\n\n## Final\n\nReally.\n"
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"user_metadata.title", "resource of a tool-call: 1 message", "that a result is JSON, which becomes text: 1 message", "that it is of the user: a session has one task: 1 message"}, lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// TestWhole: sessions that lack what the program's sessions have, or have it in another form, are
// written as valid documents, and additions and losses are reported.
func TestWhole(t *testing.T) {
	const (
		call   = "```tool-call\n{\"resource\":\"phone\",\"tool\":\"tap\",\"arguments\":{}}\n```\n"
		noEnd  = "that it has no end: a final block with status FAILED and no message is added"
		failed = "## Final\n\n- status: FAILED\n- ended_at: 2026-01-02T03:04:05.000Z\n\n### Message\n\n\n"
	)
	for _, test := range []struct {
		text string
		want string // substring of the written document
		lost []string
	}{
		{"", failed, []string{noEnd}},
		{"## user\n\nMow.\n", "## Task\n\nMow.\n\n## Steps\n\n" + failed, []string{noEnd}},
		{"## user\n\nMow.\n\n## assistant\n\n" + call, "```\n" + failed, []string{noEnd}},
		{"## user\n\nMow.\n\n## assistant\n\nI see.\n\n## user\n\nAnd?\n", "I see.\n```\n- action:\n```json\n{}\n```\n- execution_result:\n```text\n\n```\n" + failed,
			[]string{"that nothing was done after its last text, which becomes a step with an empty action: 1 message", "that it is of the user: a session has one task: 1 message", noEnd}},
		{"## user\n\nMow.\n\n## assistant\n\nI see.\n\n" + call + "\nDone.\n", "I see.\n```\n- action:\n```json\n{\n  \"type\": \"tap\"\n}\n```\n- execution_result:\n```text\n\n```\n" +
			"## Final\n\n- status: SUCCESS\n- ended_at: 2026-01-02T03:04:05.000Z\n\n### Message\n\nDone.\n", nil},
		{"---\nid: today\nstarted_at: noon\n---\n\n## assistant\n\n```json msg-metadata\n{\"status\": \"MAYBE\", \"ended_at\": 7}\n```\n\nDone.\n", "- id: 20260102-030405\n- started_at: 2026-01-02T03:04:05.000Z\n",
			[]string{"user_metadata.id", "user_metadata.started_at", "message_metadata.status: 1 message", "message_metadata.ended_at: 1 message"}},
		{"## user\n\n```json msg-metadata\n{\"speaker\": \"Ada\"}\n```\n\nMow.\n\n## assistant\n\nDone.\n", "Mow.", []string{"message_metadata.speaker: 1 message"}},
		{"## system_message\n\nYou mow.\n\n## user\n\nMow.\n\n## assistant\n\nDone.\n", "## Task\n\nMow.\n\n", []string{"message_metadata.role: 1 message", "that it is of the user: a session has one task: 1 message"}},
		{"## assistant\n\nHello.\n\n## user\n\nMow.\n\n## assistant\n\nDone.\n", "## Task\n\nMow.\n\n",
			[]string{"that nothing was done after its last text, which becomes a step with an empty action: 1 message", "that it follows others: the task comes first: 1 message"}},
		{"## assistant\n\n```tool-call\n[1]\n```\n\nDone.\n", "{\n  \"type\": \"action\",\n  \"text\": \"[1]\"\n}", []string{"that a tool-call is not a JSON object, which becomes text: 1 message"}},
		{"## assistant\n\n```tool-call\n{\"resource\":\"phone\",\"tool\":\"tap\",\"arguments\":[1]}\n```\n\nDone.\n", "{\n  \"type\": \"tap\"\n}", []string{"arguments of a tool-call: 1 message"}},
		{"## assistant\n\n```tool-call\n{\"resource\":\"phone\",\"tool\":\"tap\",\"arguments\":{\"type\":\"x\"}}\n```\n\nDone.\n", "{\n  \"type\": \"tap\"\n}", []string{"arguments.type of a tool-call: 1 message"}},
	} {
		doc, err := markdown.Decode(format.Source{Data: []byte(test.text)})
		if err != nil {
			t.Fatal(err)
		}
		doc.Header.ImportTimestamp = "2026-01-02T03:04:05Z"
		out, lost := encode(t, doc)
		if !strings.Contains(out, test.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.text, out, test.want)
		}
		if diff := cmp.Diff(test.lost, lost); diff != "" {
			t.Errorf("%s: lost (-want +got):\n%s", test.text, diff)
		}
		if again := decode(t, out); again.Damage != nil {
			t.Errorf("%s: %v in\n%s", test.text, again.Damage, out)
		}
	}
}

// TestHalfPair writes half a surrogate pair as the program does, and says so.
func TestHalfPair(t *testing.T) {
	doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{
		{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "a\xed\xa0\xbdb"}}}},
		{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "Done."}}}}}}
	out, lost := encode(t, doc)
	if !strings.Contains(out, "a\ufffdb") || len(lost) != 1 {
		t.Errorf("lost %q in\n%s", lost, out)
	}
}

// TestHeadingAfterNUL: a NUL can stand where something was lost, so a heading after one begins a step, and is escaped.
func TestHeadingAfterNUL(t *testing.T) {
	doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{
		{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "Go"}}}},
		{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "Done.\x00" + step1}}}}}}
	out, lost := encode(t, doc)
	if again := decode(t, out); len(again.Conversation) != 2 || again.Damage != nil || !strings.Contains(out, "Done.\x00 "+step1) || len(lost) == 0 {
		t.Errorf("lost %q, reads as %d messages, with damage %v:\n%s", lost, len(again.Conversation), again.Damage, out)
	}
}

// TestAnyText: steps with any text read back as those steps; escapes are reported.
func TestAnyText(t *testing.T) {
	odd := rapid.SampledFrom([]string{"```", "\n", "```\n- action:\n```json\n", "```\n- execution_result:\n```text\n", step1, final, "## Final", "## Steps\n\n", " ", "\x00", "x", "(empty)"})
	texts := rapid.Map(rapid.SliceOfN(odd, 0, 6), func(parts []string) string { return strings.Join(parts, "") })
	rapid.Check(t, func(t *rapid.T) {
		block := func(language, text string) domarkx.Block {
			return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Text: text}
		}
		doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{
			{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: texts.Draw(t, "task")}}}},
			{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{
				block("thought", texts.Draw(t, "thought")),
				block("tool-call", `{"tool":"tap","arguments":{}}`),
				block("tool-result", jsonvalue.ObjectValue(jsonvalue.Member{Name: "ok", Value: jsonvalue.BoolValue(true)},
					jsonvalue.Member{Name: "result", Value: jsonvalue.StringValue(texts.Draw(t, "result"))}).JSON()),
			}}},
			{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: texts.Draw(t, "message")}}}},
		}}
		var lost format.Losses
		out, err := openpocket.Codec().Encode(doc, format.Target{Losses: &lost})
		if err != nil {
			t.Fatal(err)
		}
		again, err := openpocket.Decode(format.Source{Data: out})
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Conversation) != 3 {
			t.Fatalf("got %d messages of\n%s", len(again.Conversation), out)
		}
		if again.Damage != nil {
			t.Fatalf("what was written is damaged: %v\n%s", again.Damage, out)
		}
		twice, err := openpocket.Codec().Encode(again, format.Target{})
		if err != nil || !bytes.Equal(twice, out) {
			t.Fatalf("writing twice differs: %v\n%s", err, cmp.Diff(string(out), string(twice)))
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(head + step1 + final))
	f.Add([]byte(head + step1[:80] + final + step1))
	f.Add([]byte(head[:70]))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := openpocket.Decode(format.Source{Data: data})
		if err != nil {
			return
		}
		if _, err := openpocket.Codec().Encode(doc, format.Target{}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestReportsAreBounded: a document that is entirely damaged is read in linear time, with a limited
// number of reports.
func TestReportsAreBounded(t *testing.T) {
	step := "### Step 1\n\n- at: 2026-02-18T13:00:00.000Z\n- thought:\n```text\né\n```\n- action:\n```json\n{}\n```\n- execution_result:\n```text\nok\n```\n\n"
	steps := 20_000
	if testing.Short() {
		steps = 2_000
	}
	data := "# OpenPocket Session\n\n- id: 20260218-130000\n- started_at: 2026-02-18T13:00:00.000Z\n- model_profile: p\n- model_name: m\n\n## Task\n\nDo it\n\n## Steps\n\n" + strings.Repeat(step, steps)
	doc, err := openpocket.Decode(format.Source{Path: "s.md", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(doc.Damage); n != 101 || !strings.Contains(doc.Damage[100].Error(), " more pieces or values ") {
		t.Errorf("%d reports, the last %v", n, doc.Damage[n-1])
	}
	for i, e := range doc.Damage[:3] {
		if e.Line < 12 || e.Column != 1 {
			t.Errorf("report %d is at %d:%d", i, e.Line, e.Column)
		}
	}
	var again []byte
	if again, err = openpocket.Codec().Encode(doc, format.Target{}); err != nil || !bytes.HasPrefix(again, []byte(data)) {
		t.Errorf("written as something else: %v", err)
	}
}

// TestEndsOnce: the former end of a session that continues becomes a step, and the document
// remains readable.
func TestEndsOnce(t *testing.T) {
	data := "# OpenPocket Session\n\n- id: 20260218-130000\n- started_at: 2026-02-18T13:00:00.000Z\n- model_profile: p\n- model_name: m\n\n## Task\n\nDo it\n\n## Steps\n\n" +
		"### Step 4\n\n- at: 2026-02-18T13:00:01.000Z\n- thought:\n```text\nt\n```\n- action:\n```json\n{}\n```\n- execution_result:\n```text\nok\n```\n" +
		"## Final\n\n- status: SUCCESS\n- ended_at: 2026-02-18T13:00:03.000Z\n\n### Message\n\nDone.\n"
	doc, err := openpocket.Decode(format.Source{Data: []byte(data)})
	if err != nil || len(doc.Damage) > 0 {
		t.Fatalf("%v, %v", doc, err)
	}
	doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "And more."}}}})
	var lost format.Losses
	again, err := openpocket.Codec().Encode(doc, format.Target{Losses: &lost})
	if err != nil {
		t.Fatal(err)
	}
	read, err := openpocket.Decode(format.Source{Data: again})
	if err != nil || len(read.Damage) > 0 || len(read.Conversation) != 4 {
		t.Fatalf("reads as %v with %v, %v:\n%s", read.Conversation, read.Damage, err, again)
	}
	if want := "### Step 5\n\n- at: 2026-02-18T13:00:03.000Z\n- thought:\n```text\nDone.\n"; !strings.Contains(string(again), want) {
		t.Errorf("expected %q in:\n%s", want, again)
	}
	if lost.Len() == 0 || lost.Texts()[0] != "that the session ended there: it continues: 1 message" {
		t.Errorf("lost %q", lost.Texts())
	}
}
