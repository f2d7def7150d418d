package toolcall_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// code returns a block of code; name is "" for a block without a name.
func code(language, name, text string) domarkx.Block {
	return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Name: name, Text: text}
}

func call(text string) domarkx.Block { return code(toolcall.Language, "", text) }

const lsCall = `{"resource": "shell", "tool": "exec", "arguments": {"command": "ls"}}`

func TestParse(t *testing.T) {
	tests := []struct {
		name, text     string
		resource, tool string
		arguments      string
		err            string // a part of the message; "" for none
	}{
		{"full", lsCall, "shell", "exec", `{"command":"ls"}`, ""},
		{"no arguments", `{"resource": "db", "tool": "schema"}`, "db", "schema", `{}`, ""},
		{"other members", `{"id": "7", "resource": "db", "tool": "schema", "note": [1]}`, "db", "schema", `{}`, ""},
		{"escapes", `{"resource": "\u0064b", "tool": "schema"}`, "db", "schema", `{}`, ""},
		{"no JSON", `exec ls`, "", "", "", "is no JSON"},
		{"cut off", `{"resource": "db", "tool"`, "", "", "", "is no JSON"},
		{"two values", `{"resource": "db", "tool": "schema"} {}`, "", "", "", "is no JSON"},
		{"a list", `[1]`, "", "", "", "is a JSON array"},
		{"no resource", `{"tool": "schema"}`, "", "", "", `has no "resource"`},
		{"no tool", `{"resource": "db"}`, "", "", "", `has no "tool"`},
		{"empty tool", `{"resource": "db", "tool": ""}`, "", "", "", `has no "tool"`},
		{"number as a resource", `{"resource": 1, "tool": "x"}`, "", "", "", `has no "resource"`},
		{"arguments as a list", `{"resource": "db", "tool": "x", "arguments": []}`, "", "", "", `has "arguments" that are a JSON array`},
		{"arguments null", `{"resource": "db", "tool": "x", "arguments": null}`, "", "", "", `has "arguments" that are a JSON null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := toolcall.Parse(tt.text)
			if tt.err != "" {
				var tool *domarkx.ToolError
				if !errors.As(err, &tool) || tool.Code != domarkx.CodeInvalid || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want an invalid call that %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Resource != tt.resource || r.Tool != tt.tool || r.Arguments.JSON() != tt.arguments {
				t.Errorf("got %q %q %s", r.Resource, r.Tool, r.Arguments.JSON())
			}
			again, err := toolcall.Parse(toolcall.NewBlock(r).Text)
			if err != nil || again.Resource != r.Resource || again.Tool != r.Tool || !again.Arguments.Equal(r.Arguments) {
				t.Errorf("written and read again: %+v, %v", again, err)
			}
		})
	}
}

// FuzzParse compares the two readings of a call: a call whose resource is that of an agent's record is
// never run, and every other one that can be parsed is.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		lsCall, `{"resource": "codex", "tool": "shell"}`, `{"resource": "\u0063odex", "tool": "shell"}`,
		`{"resource": "shell", "resource": "codex", "tool": "exec"}`, `{"resource": "codex", "resource": "shell", "tool": "exec"}`,
		`{"arguments": {"resource": "codex"}, "resource": "shell", "tool": "exec"}`, `{"resource": "codex"} x`, "{\"resource\": \"codex\"\x00}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := toolcall.Parse(text)
		if err != nil {
			return
		}
		record := all.IsRecord(toolcall.NewBlock(r).Text)
		runnable := toolcall.Runnable(domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{call(text)}})
		if record == (len(runnable) > 0) {
			t.Errorf("%q asks for resource %q: record %v, runnable %v", text, r.Resource, record, runnable)
		}
	})
}

func TestSteps(t *testing.T) {
	declined := toolcall.Declined("the user declined it").Block()
	done := toolcall.Outcome{OK: true, Result: jsonvalue.StringValue("a"), Version: "1"}.Block()
	m := domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{
		{Type: domarkx.TextBlock, Text: "Let us see."},
		call(lsCall), done,
		call(lsCall), declined,
		call(lsCall),
		code("bash", "list.sh", "ls"), done,
		code("bash", "", "an example"),
		code("python", "plot.py", "print()"),
		call(`{"resource": "claude-code", "tool": "Bash"}`),
		code(toolcall.ResultLanguage, "result", "{}"),
	}}
	steps := toolcall.Steps(m, func(language string) bool { return language == "bash" })
	want := []struct {
		index          int
		done, declined bool
	}{{1, true, false}, {3, true, true}, {5, false, false}, {6, true, false}}
	if len(steps) != len(want) {
		t.Fatalf("%d steps, want %d: %+v", len(steps), len(want), steps)
	}
	for i, s := range steps {
		if s.Index != want[i].index || s.Done != want[i].done || s.Declined != want[i].declined {
			t.Errorf("step %d: %+v, want %+v", i, s, want[i])
		}
		if s.Done != (s.Result != "") {
			t.Errorf("step %d: done %v with the result %q", i, s.Done, s.Result)
		}
	}
	runnable := toolcall.Runnable(m)
	var texts []string
	for _, b := range runnable {
		texts = append(texts, b.Language+" "+b.Name)
	}
	// The user trusts what can run in any workspace, so Python counts, too; the declined call does not.
	if got, want := strings.Join(texts, ", "), "tool-call , tool-call , bash list.sh, python plot.py"; got != want {
		t.Errorf("runnable: %s, want %s", got, want)
	}
	m.Role = domarkx.User
	if steps := toolcall.Steps(m, func(string) bool { return true }); steps != nil {
		t.Errorf("a message of the user has the steps %+v", steps)
	}
}

// TestDeclinedIsWritten reads a declined call from its blocks alone, as they are stored.
func TestDeclinedIsWritten(t *testing.T) {
	refused := toolcall.Failed(&domarkx.ToolError{Code: domarkx.CodeRefused, Message: "no"}).Block()
	tests := []struct {
		name  string
		after []domarkx.Block
		runs  bool
	}{
		{"declined", []domarkx.Block{toolcall.Declined("no").Block()}, false},
		{"without its result", nil, true},
		{"refused by the resource", []domarkx.Block{refused}, true},
		{"an edited result", []domarkx.Block{code(toolcall.ResultLanguage, "", "declined")}, true},
		{"a result with text between", []domarkx.Block{{Type: domarkx.TextBlock, Text: "-"}, toolcall.Declined("no").Block()}, true},
		{"declined with another code", []domarkx.Block{code(toolcall.ResultLanguage, "", `{"ok": false, "declined": true, "error": {"code": "broken", "message": "x"}}`)}, true},
	}
	for _, tt := range tests {
		m := domarkx.Message{Role: domarkx.Assistant, Content: append([]domarkx.Block{call(lsCall)}, tt.after...)}
		if runs := len(toolcall.Runnable(m)) == 1; runs != tt.runs {
			t.Errorf("%s: runnable %v, want %v", tt.name, runs, tt.runs)
		}
	}
}

func TestOutcome(t *testing.T) {
	tests := []toolcall.Outcome{
		{OK: true, Result: jsonvalue.ObjectValue(jsonvalue.Member{Name: "exit", Value: jsonvalue.NumberValue("0")}), Version: strings.Repeat("a", 40)},
		{OK: true, Result: jsonvalue.StringValue("two\nlines \u2028"), Version: ""},
		toolcall.Failed(&domarkx.ToolError{Code: domarkx.CodeTimeout, Message: "it took 60 s"}),
		toolcall.Failed(errors.New("the disk is full")),
		toolcall.Interrupted("notes"),
	}
	for _, o := range tests {
		got := toolcall.ParseOutcome(o.Block().Text)
		if got.OK != o.OK || got.Version != o.Version || got.Code != o.Code || got.Message != o.Message || o.OK && !got.Result.Equal(o.Result) {
			t.Errorf("%+v became %+v", o, got)
		}
		if strings.ContainsAny(o.Block().Text, "\n") {
			t.Errorf("%q has several lines", o.Block().Text)
		}
	}
	for _, text := range []string{"", "no JSON", "[]", `{"ok": "true"}`, `{"error": "x"}`, `{"ok": false, "error": {"code": 1}}`} {
		if got := toolcall.ParseOutcome(text); got.OK || text != `{"ok": false, "error": {"code": 1}}` && got.Code != "" {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func steps(blocks []domarkx.Block) (all []toolcall.Step) {
	for _, b := range blocks {
		all = append(all, toolcall.Step{Block: b})
	}
	return all
}

func TestFirstDifference(t *testing.T) {
	a, b, c := code("bash", "a", "1"), code("bash", "b", "1"), code("bash", "a", "2")
	tests := []struct {
		name     string
		was, now []domarkx.Block
		want     int
	}{
		{"nothing", nil, nil, 0},
		{"the same", []domarkx.Block{a, b}, []domarkx.Block{a, b}, 2},
		{"one more", []domarkx.Block{a}, []domarkx.Block{a, b}, 1},
		{"one less", []domarkx.Block{a, b}, []domarkx.Block{a}, 1},
		{"another text", []domarkx.Block{a, b}, []domarkx.Block{c, b}, 0},
		{"another order", []domarkx.Block{a, b}, []domarkx.Block{b, a}, 0},
	}
	for _, tt := range tests {
		if got := toolcall.FirstDifference(steps(tt.was), steps(tt.now)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	before := domarkx.Message{Content: []domarkx.Block{call(lsCall), code(toolcall.ResultLanguage, "", "{}")}}
	after := domarkx.Message{Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "I look."}, call(lsCall)}}
	if !toolcall.SameRunnable(before, after) {
		t.Error("texts and results count as something that runs")
	}
	after.Content[1].Text += " "
	if toolcall.SameRunnable(before, after) {
		t.Error("a changed call counts as the same")
	}
}
