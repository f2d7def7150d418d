package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// TestSections checks how calls and results are shown, folded and unfolded.
func TestSections(t *testing.T) {
	long := strings.Repeat("long ", 50)
	for name, test := range map[string]struct {
		arguments, result string // JSON; no result if empty
		brief, status     string
		call, outcome     []string // sections, as described by [described]
	}{
		"a command":            {`{"command": "ls", "x": 1}`, `{"ok": true, "result": {"stdout": "a", "stderr": "b", "code": 0}}`, "ls", "", []string{"x: 1", "command: ls"}, []string{"a", "stderr: b", "json {\n  \"code\": 0\n}"}},
		"a command alone":      {`{"command": "ls"}`, `{"ok": true, "result": "a"}`, "ls", "", []string{"ls"}, []string{"a"}},
		"no arguments":         {`{}`, "", "", "no result", nil, nil},
		"an edit":              {`{"path": "/p", "old_str": "a", "new_str": "b"}`, `{"ok": true, "result": null}`, "/p", "", []string{"path: /p", "-a +b"}, []string{"json null"}},
		"edits":                {`{"path": "/p", "edits": [{"oldText": "a", "newText": "b"}]}`, "", "/p", "no result", []string{"path: /p", "-a +b"}, nil},
		"values":               {`{"list": [1], "text": "` + long + `"}`, `{"ok": true, "result": [2]}`, long, "", []string{"json {\n  \"list\": [\n    1\n  ]\n}", "text: " + long}, []string{"json [\n  2\n]"}},
		"a patch":              {`{"input": "*** Begin Patch\n*** Update File: f"}`, "", "Update File: f", "no result", []string{"input: *** Begin Patch\n*** Update File: f"}, nil},
		"a failure":            {`{}`, `{"ok": false, "error": {"code": "denied", "message": "no"}}`, "", "denied", nil, []string{"no"}},
		"a failure by code":    {`{}`, `{"ok": false, "error": {"code": "denied"}}`, "", "denied", nil, []string{"denied"}},
		"a failure of no kind": {`{}`, `{"ok": false}`, "", "failed", nil, []string{""}},
		"a damaged result":     {`{}`, `{`, "", "", nil, []string{"{"}},
		"no output":            {`{}`, `{"ok": true, "result": {"stdout": ""}}`, "", "", nil, []string{"json {}"}},
	} {
		t.Run(name, func(t *testing.T) {
			call, ok := transcript.CallOf(transcript.Code("tool-call", `{"tool": "Do", "arguments": `+test.arguments+`}`))
			if !ok {
				t.Fatal("it is no call")
			}
			var result *transcript.Result
			if test.result != "" {
				r, _ := transcript.ResultOf(transcript.Code("tool-result", test.result))
				result = &r
				if diff := cmp.Diff(test.outcome, described(r.Sections())); diff != "" {
					t.Error(diff)
				}
			}
			if call.Brief() != test.brief || result.Status() != test.status {
				t.Errorf("%q, %q", call.Brief(), result.Status())
			}
			if diff := cmp.Diff(test.call, described(call.Sections())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// described returns a line for each section.
func described(sections []transcript.Section) (lines []string) {
	for _, s := range sections {
		line := s.Text
		switch {
		case s.IsEdit:
			line = "-" + s.Old + " +" + s.New
		case s.Label != "":
			line = s.Label + ": " + line
		case s.Language != "":
			line = s.Language + " " + line
		}
		for _, m := range s.Fields {
			value := m.Value.JSON()
			if m.Value.Kind() == jsonvalue.String {
				value = m.Value.Text()
			}
			line += m.Name + ": " + value
		}
		lines = append(lines, line)
	}
	return lines
}
