package copilot_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/copilot"
	"github.com/domarkx/domarkx/format/formattest"
)

var fixtures = formattest.Fixtures{
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

func TestGolden(t *testing.T) { fixtures.Golden(t, copilot.Codec()) }

func TestAny(t *testing.T) { fixtures.Any(t, copilot.Codec()) }

func TestGrowth(t *testing.T) { fixtures.Growth(t, copilot.Codec()) }

func TestWithstand(t *testing.T) { fixtures.Withstand(t, copilot.Codec(), "please") }

func FuzzDecode(f *testing.F) { fixtures.Fuzz(f, copilot.Codec()) }
