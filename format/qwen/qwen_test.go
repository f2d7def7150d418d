package qwen_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/qwen"
)

var fixtures = formattest.Fixtures{
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

func TestGolden(t *testing.T) { fixtures.Golden(t, qwen.Codec()) }

func TestAny(t *testing.T) { fixtures.Any(t, qwen.Codec()) }

func TestGrowth(t *testing.T) { fixtures.Growth(t, qwen.Codec()) }

func TestWithstand(t *testing.T) { fixtures.Withstand(t, qwen.Codec(), "please") }

func FuzzDecode(f *testing.F) { fixtures.Fuzz(f, qwen.Codec()) }
