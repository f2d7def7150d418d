package openpocket_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/openpocket"
)

// TestWrite writes a session piece by piece, to the bytes of the program.
func TestWrite(t *testing.T) {
	got, escaped := openpocket.Begin(openpocket.Session{ID: "20260218-130000", StartedAt: "2026-02-18T05:00:00.120Z", ModelProfile: "p", ModelName: "m", Task: "T"})
	if escaped {
		t.Error("a plain task is escaped")
	}
	block, escaped := openpocket.NextStep(got, openpocket.Step{Number: "1", At: "2026-02-18T05:00:04.000Z", Thought: "hm", Action: "{}", Result: "ok"})
	if escaped {
		t.Error("a plain step is escaped")
	}
	got = append(got, block...)
	if n := openpocket.LastStep(got); n != "1" {
		t.Errorf("last step %q", n)
	}
	block, escaped = openpocket.NextFinal(got, openpocket.Final{Status: "SUCCESS", EndedAt: "2026-02-18T05:00:20.000Z", Message: "Done."})
	if escaped {
		t.Error("a plain end is escaped")
	}
	if diff := cmp.Diff(head+step1+final, string(append(got, block...))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWriteAnyText: pieces with any text read back as the same number of steps and ends,
// and a document that was cut off keeps its content.
func TestWriteAnyText(t *testing.T) {
	odd := rapid.SampledFrom([]string{"```", "\n", "```\n- action:\n```json\n", "```\n- execution_result:\n```text\n", step1, final, "## Final", "## Steps\n\n", " ", "\x00", "x", "(empty)"})
	texts := rapid.Map(rapid.SliceOfN(odd, 0, 6), func(parts []string) string { return strings.Join(parts, "") })
	rapid.Check(t, func(t *rapid.T) {
		doc, _ := openpocket.Begin(openpocket.Session{ID: "20260218-130000", StartedAt: "2026-02-18T05:00:00.120Z", Task: texts.Draw(t, "task")})
		n := rapid.IntRange(0, 3).Draw(t, "steps")
		for range n {
			block, _ := openpocket.NextStep(doc, openpocket.Step{Number: "1", At: "2026-02-18T05:00:04.000Z", Thought: texts.Draw(t, "thought"), Action: "{}", Result: texts.Draw(t, "result")})
			doc = append(doc, block...)
		}
		block, _ := openpocket.NextFinal(doc, openpocket.Final{Status: "SUCCESS", EndedAt: "2026-02-18T05:00:20.000Z", Message: texts.Draw(t, "message")})
		doc = append(doc, block...)
		read, err := openpocket.Decode(format.Source{Data: doc})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(read.Conversation); got != n+2 || read.Damage != nil {
			t.Fatalf("got %d messages, expected %d, %v, of\n%s", got, n+2, read.Damage, doc)
		}
	})
	cut := head + step1[:60]
	block, _ := openpocket.NextStep([]byte(cut), openpocket.Step{Number: "2", At: "2026-02-18T05:00:04.000Z", Action: "{}"})
	doc := decode(t, cut+string(block))
	if n := len(doc.Conversation); n != 3 {
		t.Errorf("got %d messages behind a step that was cut off", n)
	}
}
