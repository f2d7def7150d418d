package openpocket_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/openpocket"
)

// TestReadsBackApart: a document whose pieces each read as written does so as a whole,
// and no other.
func TestReadsBackApart(t *testing.T) {
	parts := []string{"a", "\n", "\x00", "{}", "### Step 2\n\n- at: x\n- thought:\n```text\n", "\n```\n- action:\n```json\n",
		"\n```\n- execution_result:\n```text\n", "\n```\n", "## Final\n\n- status: SUCCESS\n- ended_at: x\n\n### Message\n\n", "\n\n## Steps\n\n"}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts"), "") + strings.Repeat(parts[4], rapid.SampledFrom([]int{0, 0, 0, 1, 61, 62, 63, 64, 65}).Draw(t, "heads"))
	})
	code := func(language, text string) domarkx.Block {
		return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Text: text}
	}
	sound, unsound := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{
			{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: text.Draw(t, "task")}}}}}}
		for range rapid.IntRange(0, 4).Draw(t, "messages") {
			m := domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: text.Draw(t, "final")}}}
			metadata := jsonvalue.ObjectValue()
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				metadata = metadata.With("status", jsonvalue.StringValue("SUCCESS"))
			case 1:
				metadata = metadata.With("unread", jsonvalue.BoolValue(true))
			default:
				m.Content = []domarkx.Block{code("thought", text.Draw(t, "thought")), code("tool-call", `{"tool":"tap","arguments":{"type":"tap"}}`), code("tool-result", text.Draw(t, "result"))}
				if rapid.Bool().Draw(t, "own") {
					metadata = metadata.With("step", jsonvalue.StringValue("7"))
				}
			}
			m.Metadata = &metadata
			doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: m})
		}
		apart, whole := openpocket.ReadsBack(doc)
		if apart != whole {
			t.Fatalf("apart %v, as a whole %v", apart, whole)
		}
		if whole {
			sound++
		} else {
			unsound++
		}
	})
	if sound == 0 || unsound == 0 {
		t.Errorf("%d documents that read back, %d others", sound, unsound)
	}
}
