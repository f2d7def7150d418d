package qwen_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/qwen"
)

var fixtures = map[string]string{
	"session": `{"uuid":"829ffff2-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"46e9894c-0000-4000-8000-000000000001","timestamp":"2026-03-04T08:00:01.000Z","type":"user","provenance":"real_user","cwd":"/work/shop","version":"0.24.4","gitBranch":"main","message":{"role":"user","parts":[{"text":"Write a note please"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}]}}
{"uuid":"829ffff2-0000-4000-8000-000000000002","parentUuid":"829ffff2-0000-4000-8000-000000000001","sessionId":"46e9894c-0000-4000-8000-000000000001","timestamp":"2026-03-04T08:00:02.000Z","type":"system","provenance":"system","cwd":"/work/shop","version":"0.24.4","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response"}}}
{"uuid":"829ffff2-0000-4000-8000-000000000003","parentUuid":"829ffff2-0000-4000-8000-000000000002","sessionId":"46e9894c-0000-4000-8000-000000000001","timestamp":"2026-03-04T08:00:03.000Z","type":"assistant","provenance":"assistant_output","cwd":"/work/shop","version":"0.24.4","gitBranch":"main","model":"qwen3-coder","message":{"role":"model","parts":[{"text":"Plan.","thought":true},{"text":"I will write the file."},{"functionCall":{"id":"call_1","name":"run_shell_command","args":{"command":"echo hello"}}},{"functionCall":{"id":"call_2","name":"read_file","args":{"path":"x"}}}]},"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20,"thoughtsTokenCount":3,"totalTokenCount":120,"cachedContentTokenCount":10}}
{"uuid":"829ffff2-0000-4000-8000-000000000004","parentUuid":"829ffff2-0000-4000-8000-000000000003","sessionId":"46e9894c-0000-4000-8000-000000000001","timestamp":"2026-03-04T08:00:04.000Z","type":"tool_result","provenance":"tool_result","cwd":"/work/shop","version":"0.24.4","message":{"role":"user","parts":[{"functionResponse":{"id":"call_2","name":"read_file","response":{"error":"no such file"}}}]},"toolCallResult":{"callId":"call_2","status":"error"}}
{"uuid":"829ffff2-0000-4000-8000-000000000005","parentUuid":"829ffff2-0000-4000-8000-000000000004","sessionId":"46e9894c-0000-4000-8000-000000000001","timestamp":"2026-03-04T08:00:05.000Z","type":"tool_result","provenance":"tool_result","cwd":"/work/shop","version":"0.24.4","message":{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"run_shell_command","response":{"output":"hello"}}}]},"toolCallResult":{"callId":"call_1","status":"success"}}
{"uuid":"829ffff2-0000-4000-8000-000000000006","parentUuid":"829ffff2-0000-4000-8000-000000000005","sessionId":"46e9894c-0000-4000-8000-000000000001","timestamp":"2026-03-04T08:00:06.000Z","type":"assistant","provenance":"assistant_output","cwd":"/work/shop","version":"0.24.4","model":"qwen3-coder","message":{"role":"model","parts":[{"text":"Done: ` + "```sh\\nls\\n```" + `"}]}}
`,
	"rewound": `{"uuid":"829ffff2-0000-4000-8000-000000000006","parentUuid":null,"sessionId":"46e9894c-0000-4000-8000-000000000002","timestamp":"2026-03-04T08:00:06.000Z","type":"user","provenance":"real_user","cwd":"/work/shop","version":"0.24.4","message":{"role":"user","parts":[{"text":"Begin."}]}}
{"uuid":"829ffff2-0000-4000-8000-000000000007","parentUuid":"829ffff2-0000-4000-8000-000000000006","sessionId":"46e9894c-0000-4000-8000-000000000002","timestamp":"2026-03-04T08:00:07.000Z","type":"user","provenance":"real_user","cwd":"/work/shop","version":"0.24.4","message":{"role":"user","parts":[{"text":"` + "```tool-call\\n{}\\n```" + `"}]}}
{"uuid":"829ffff2-0000-4000-8000-000000000008","parentUuid":"829ffff2-0000-4000-8000-000000000006","sessionId":"46e9894c-0000-4000-8000-000000000002","timestamp":"2026-03-04T08:00:08.000Z","type":"user","provenance":"real_user","cwd":"/work/shop","version":"0.24.4","message":{"role":"user","parts":[{"text":"Rather this."}]}}
`,
}

// TestGolden pins the fixtures, their Markdown, and the transcripts written from them.
func TestGolden(t *testing.T) {
	for name, data := range fixtures {
		formattest.Golden(t, "testdata/"+name+".jsonl", data)
		formattest.CheckTranscript(t, qwen.Codec(), "testdata", name, data)
	}
}

// TestAny: whatever is cut off, repeated or left out, the rest can be shown, stored and written.
func TestAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.CheckAny(t, qwen.Codec(), []byte(drawn(t))) })
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
		if formattest.CheckGrowth(t, qwen.Codec(), []byte(data), cut) {
			grew++
		}
	}
	if grew == 0 {
		t.Error("nothing was taken for growth")
	}
	rapid.Check(t, func(t *rapid.T) {
		data := chosen(t)
		formattest.CheckGrowth(t, qwen.Codec(), []byte(data), rapid.IntRange(0, len(data)).Draw(t, "at"))
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
	f.Fuzz(func(t *testing.T, data []byte) { formattest.CheckAny(t, qwen.Codec(), data) })
}
