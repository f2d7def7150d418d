package importer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

// TestImportLineByLine imports transcripts while they are written. In the end the session reads as if the transcript
// had been imported once, and is exported as it is, although calls had no results yet in between.
func TestImportLineByLine(t *testing.T) {
	files, err := filepath.Glob("../../../format/*/testdata/session.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(filepath.Dir(file)))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkLineByLine(t, string(data))
		})
	}
}

// TestImportOfOpenCalls imports calls before their results, which come one by one. Messages with few words have
// nothing else by which an edit could be recognized.
func TestImportOfOpenCalls(t *testing.T) {
	line := func(uuid, parent, kind, message string) string {
		return `{"parentUuid":` + parent + `,"isSidechain":false,"type":"` + kind + `","uuid":"` + uuid + `","sessionId":"5e550000-0000-4000-8000-000000000001","cwd":"/w","version":"2.1.0","timestamp":"2026-03-01T10:00:0` + uuid[:1] + `.000Z","message":` + message + "}\n"
	}
	call := func(id string) string {
		return `{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"make"}}`
	}
	result := func(id string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"ok ` + id + `"}]}`
	}
	const rest = "0000000-0000-4000-8000-000000000001"
	checkLineByLine(t, line("1"+rest, "null", "user", `{"role":"user","content":"Hi"}`)+
		line("2"+rest, `"1`+rest+`"`, "assistant", `{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[`+call("c1")+","+call("c2")+`]}`)+
		line("3"+rest, `"2`+rest+`"`, "user", result("c1"))+
		line("4"+rest, `"3`+rest+`"`, "user", result("c2"))+
		line("5"+rest, `"4`+rest+`"`, "assistant", `{"id":"msg_2","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[`+call("c3")+`]}`)+
		line("6"+rest, `"5`+rest+`"`, "user", result("c3"))+
		line("7"+rest, `"6`+rest+`"`, "assistant", `{"id":"msg_3","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"Done."}]}`))
}

func checkLineByLine(t *testing.T, transcript string) {
	t.Helper()
	whole := enginetest.New(t)
	want := whole.Shown(whole.ImportFile(whole.WriteFile("session.jsonl", transcript)).Name)
	c := enginetest.New(t)
	name := ""
	lines := 0
	for end := range len(transcript) {
		if transcript[end] != '\n' {
			continue
		}
		lines++
		if testing.Short() && lines > 8 && lines%4 != 0 && end+1 < len(transcript) {
			continue
		}
		result, err := c.Import(t.Context(), importer.Request{Paths: []string{c.WriteFile("session.jsonl", transcript[:end+1])}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range result.Sessions { // none while the first line is not a message
			name = s.Name
		}
	}
	if got := c.Shown(name); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r := engine.Revision{Name: name, Message: -1}
	e, err := c.Export(t.Context(), engine.ExportRequest{Revision: r, Format: c.Agent(t.Context(), c.Tip(name))})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := e.Write(&b); err != nil || b.String() != transcript {
		t.Errorf("exported as\n%s\n%v", b.String(), err)
	}
	c.Fsck()
}
