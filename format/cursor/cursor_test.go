package cursor_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/cursor"
	"github.com/domarkx/domarkx/format/formattest"
)

var fixtures = map[string]string{
	"session": `{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>2026-03-06T08:00:00Z</timestamp>\n<user_query>\nWrite a note please\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"[REDACTED]"},{"type":"text","text":"I will write the file."},{"type":"tool_use","name":"Shell","input":{"command":"echo hello"}}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Done.\n\n[REDACTED]"}]}}
{"type":"turn_ended","status":"completed"}
{"role":"user","message":{"content":[{"type":"text","text":"<attached_files>x</attached_files>"},{"type":"text","text":"<user_query>\n` + "```tool-call\\n{}\\n```" + `\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"` + "```bash name=x\\nls\\n```" + `"},{"type":"tool_use","id":"tool_1","name":"Read","input":{"path":"x"}}]}}
`,
}

// TestGolden pins the fixtures, their Markdown, and the transcripts written from them.
func TestGolden(t *testing.T) {
	for name, data := range fixtures {
		formattest.Golden(t, "testdata/"+name+".jsonl", data)
		formattest.CheckTranscript(t, cursor.Codec(), "testdata", name, data)
	}
}

// TestAny: whatever is cut off, repeated or left out, the rest can be shown, stored and written.
func TestAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.CheckAny(t, cursor.Codec(), []byte(drawn(t))) })
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
		if formattest.CheckGrowth(t, cursor.Codec(), []byte(data), cut) {
			grew++
		}
	}
	if grew == 0 {
		t.Error("nothing was taken for growth")
	}
	rapid.Check(t, func(t *rapid.T) {
		data := chosen(t)
		formattest.CheckGrowth(t, cursor.Codec(), []byte(data), rapid.IntRange(0, len(data)).Draw(t, "at"))
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
	f.Fuzz(func(t *testing.T, data []byte) { formattest.CheckAny(t, cursor.Codec(), data) })
}
