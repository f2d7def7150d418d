package copilot_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/copilot"
	"github.com/domarkx/domarkx/format/formattest"
)

var fixtures = map[string]string{
	"session": `{"type":"session.start","data":{"sessionId":"538281ee-0000-4000-8000-000000000001","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":"2026-03-05T08:00:00.000Z","context":{"cwd":"/work/shop","branch":"main"}},"id":"856501d7-0000-4000-8000-000000000001","timestamp":"2026-03-05T08:00:00.100Z","parentId":null}
{"type":"user.message","data":{"content":"Write a note please","transformedContent":"<current_datetime>2026</current_datetime>\n\nWrite a note please","attachments":[]},"id":"856501d7-0000-4000-8000-000000000002","timestamp":"2026-03-05T08:00:01.000Z","parentId":"856501d7-0000-4000-8000-000000000001"}
{"type":"system.message","data":{"role":"system","content":"You are the GitHub Copilot CLI."},"id":"856501d7-0000-4000-8000-000000000003","timestamp":"2026-03-05T08:00:01.100Z","parentId":"856501d7-0000-4000-8000-000000000002"}
{"type":"assistant.turn_start","data":{"turnId":"0"},"id":"856501d7-0000-4000-8000-000000000004","timestamp":"2026-03-05T08:00:01.200Z","parentId":"856501d7-0000-4000-8000-000000000003"}
{"type":"session.usage_record","data":{"usage":{"model":"gpt-5.5","inputTokens":100,"outputTokens":20,"cacheReadTokens":10,"cacheWriteTokens":0,"apiCallId":"chat-1"}},"id":"856501d7-0000-4000-8000-000000000005","timestamp":"2026-03-05T08:00:02.000Z","parentId":"856501d7-0000-4000-8000-000000000004"}
{"type":"assistant.message","data":{"messageId":"7bbef680","model":"gpt-5.5","content":"I will write the file.","reasoningText":"Plan.","reasoningOpaque":"x","toolRequests":[{"toolCallId":"call_1","name":"bash","arguments":{"command":"echo hello"},"type":"function"},{"toolCallId":"call_2","name":"view","arguments":{"path":"x"},"type":"function"}],"apiCallId":"chat-1"},"id":"856501d7-0000-4000-8000-000000000006","timestamp":"2026-03-05T08:00:02.100Z","parentId":"856501d7-0000-4000-8000-000000000005"}
{"type":"tool.execution_start","data":{"toolCallId":"call_1","toolName":"bash","arguments":{"command":"echo hello"}},"id":"856501d7-0000-4000-8000-000000000007","timestamp":"2026-03-05T08:00:02.200Z","parentId":"856501d7-0000-4000-8000-000000000006"}
{"type":"hook.start","data":{"hookType":"preToolUse"},"id":"856501d7-0000-4000-8000-000000000008","timestamp":"2026-03-05T08:00:02.300Z","parentId":"856501d7-0000-4000-8000-000000000007"}
{"type":"tool.execution_complete","data":{"toolCallId":"call_1","success":true,"result":{"content":"hello","detailedContent":"hello"},"toolTelemetry":{}},"id":"856501d7-0000-4000-8000-000000000009","timestamp":"2026-03-05T08:00:02.400Z","parentId":"856501d7-0000-4000-8000-000000000008"}
{"type":"tool.execution_complete","data":{"toolCallId":"call_2","success":false,"error":{"message":"no such file","code":"failure"}},"id":"856501d7-0000-4000-8000-00000000000a","timestamp":"2026-03-05T08:00:02.500Z","parentId":"856501d7-0000-4000-8000-000000000009"}
{"type":"assistant.turn_end","data":{"turnId":"0"},"id":"856501d7-0000-4000-8000-00000000000b","timestamp":"2026-03-05T08:00:02.600Z","parentId":"856501d7-0000-4000-8000-00000000000a"}
{"type":"assistant.message","data":{"messageId":"7bbef681","content":"` + "```tool-call\\n{}\\n```" + `","toolRequests":[],"outputTokens":7},"id":"856501d7-0000-4000-8000-00000000000c","timestamp":"2026-03-05T08:00:03.000Z","parentId":"856501d7-0000-4000-8000-00000000000b"}
{"type":"abort","data":{"reason":"user"},"id":"856501d7-0000-4000-8000-00000000000d","timestamp":"2026-03-05T08:00:04.000Z","parentId":"856501d7-0000-4000-8000-00000000000c"}
{"type":"session.shutdown","data":{"modelMetrics":{}},"id":"856501d7-0000-4000-8000-00000000000e","timestamp":"2026-03-05T08:00:05.000Z","parentId":"856501d7-0000-4000-8000-00000000000d"}
`,
}

// TestGolden pins the fixtures, their Markdown, and the transcripts written from them.
func TestGolden(t *testing.T) {
	for name, data := range fixtures {
		formattest.Golden(t, "testdata/"+name+".jsonl", data)
		formattest.CheckTranscript(t, copilot.Codec(), "testdata", name, data)
	}
}

// TestAny: whatever is cut off, repeated or left out, the rest can be shown, stored and written.
func TestAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.CheckAny(t, copilot.Codec(), []byte(drawn(t))) })
}

// drawn draws a transcript from the lines of the fixtures.
func drawn(t *rapid.T) string {
	lines := strings.SplitAfter(strings.TrimSuffix(fixtures["session"], "\n"), "\n")
	text := lines[0] + strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 20).Draw(t, "lines"), "")
	return text[:rapid.IntRange(max(0, len(text)-50), len(text)).Draw(t, "cut")]
}

// TestGrowth: reading a transcript in two parts gives the same session as reading it whole.
func TestGrowth(t *testing.T) {
	data, grew := fixtures["session"], 0
	for cut := strings.IndexByte(data, '\n') + 1; cut <= len(data); cut += 7 {
		if formattest.CheckGrowth(t, copilot.Codec(), []byte(data), cut) {
			grew++
		}
	}
	if grew == 0 {
		t.Error("nothing was taken for growth")
	}
	rapid.Check(t, func(t *rapid.T) {
		data := chosen(t)
		formattest.CheckGrowth(t, copilot.Codec(), []byte(data), rapid.IntRange(0, len(data)).Draw(t, "at"))
	})
}

// chosen draws some of the lines of the fixtures, in order.
func chosen(t *rapid.T) string {
	lines := strings.SplitAfter(fixtures["session"], "\n")
	text := lines[0]
	for _, line := range lines[1:] {
		if rapid.Bool().Draw(t, "line") {
			text += line
		}
	}
	return text
}

func FuzzDecode(f *testing.F) {
	for _, data := range fixtures {
		f.Add([]byte(data))
		f.Add([]byte(data[:len(data)/2]))
	}
	f.Fuzz(func(t *testing.T, data []byte) { formattest.CheckAny(t, copilot.Codec(), data) })
}
