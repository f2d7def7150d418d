package cursor_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/cursor"
	"github.com/domarkx/domarkx/format/formattest"
)

var fixtures = formattest.Fixtures{
	"session": `{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>2026-03-06T08:00:00Z</timestamp>\n<user_query>\nWrite a note please\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"[REDACTED]"},{"type":"text","text":"I will write the file."},{"type":"tool_use","name":"Shell","input":{"command":"echo hello"}}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Done.\n\n[REDACTED]"}]}}
{"type":"turn_ended","status":"completed"}
{"role":"user","message":{"content":[{"type":"text","text":"<attached_files>x</attached_files>"},{"type":"text","text":"<user_query>\n` + "```tool-call\\n{}\\n```" + `\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"` + "```bash name=x\\nls\\n```" + `"},{"type":"tool_use","id":"tool_1","name":"Read","input":{"path":"x"}}]}}
`,
}

func TestGolden(t *testing.T) { fixtures.Golden(t, cursor.Codec()) }

func TestAny(t *testing.T) { fixtures.Any(t, cursor.Codec()) }

func TestGrowth(t *testing.T) { fixtures.Growth(t, cursor.Codec()) }

func TestWithstand(t *testing.T) { fixtures.Withstand(t, cursor.Codec(), "please") }

func FuzzDecode(f *testing.F) { fixtures.Fuzz(f, cursor.Codec()) }
