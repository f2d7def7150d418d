package importer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/openpocket"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// A program can continue a session that was exported to it.
type program struct {
	path  string // the file in which it keeps the session
	begun string // initial content of that file, or a path below the directory of formats
	say   func(t *testing.T, document []byte, text string) []byte
}

var programs = map[string]program{
	"md": {"s.md", "## user\n\nBegin.\n", func(_ *testing.T, document []byte, text string) []byte {
		return fmt.Appendf(document, "\n## assistant\n\n%s\n", text)
	}},
	"json": {"s.json", `{"version": "1.0", "snapshot_id": "one", "metadata": {"import_timestamp": "2025-11-14T10:45:00Z", "user_metadata": {"n": 1.50}},
		"execution_config": {"model": "m"}, "extra": [], "conversation": [{"role": "user", "content": [{"type": "text", "value": "Begin."}], "x": 1}]}`, func(t *testing.T, document []byte, text string) []byte {
		return changed(t, document, func(v map[string]any) {
			v["conversation"] = append(v["conversation"].([]any), map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "value": text}}})
		})
	}},
	"agent-chatter": {"s.json", "agentchatter/testdata/empty.json", func(t *testing.T, document []byte, text string) []byte {
		return changed(t, document, func(v map[string]any) {
			context := v["context"].(map[string]any)
			context["messages"] = append(context["messages"].([]any), map[string]any{"id": "msg-" + text, "timestamp": "2030-01-01T00:00:00.000Z",
				"speaker": map[string]any{"id": "ai", "name": "ai", "displayName": "AI", "type": "ai"}, "content": text})
			v["updatedAt"] = "2030-01-01T00:00:00.000Z"
		})
	}},
	"zeus": {"s.json", "zeus/testdata/fleet.json", func(t *testing.T, document []byte, text string) []byte {
		return changed(t, document, func(v map[string]any) {
			v["entries"] = append(v["entries"].([]any), map[string]any{"kind": "kitty", "name": text, "agent_id": text, "cwd": "/w", "session_path": ""})
			v["entry_count"] = len(v["entries"].([]any))
		})
	}},
	"openpocket": {"session-20260218-130000.md", "openpocket/testdata/alarm.session", func(_ *testing.T, document []byte, text string) []byte {
		steps, final, _ := bytes.Cut(document, []byte("## Final\n"))
		step, _ := openpocket.NextStep(steps, openpocket.Step{Number: "9", At: "2030-01-01T00:00:00.000Z", Thought: text, Action: `{"type": "wait"}`, Result: "done"})
		return slices.Concat(steps, step, []byte("## Final\n"), final)
	}},
	"pi": {"s.jsonl", "pi/testdata/v3.jsonl", func(t *testing.T, document []byte, text string) []byte {
		lines := bytes.Split(bytes.TrimSpace(document), []byte("\n"))
		var last struct{ ID string }
		if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
			t.Fatal(err)
		}
		return fmt.Appendf(document, `{"type":"message","id":%q,"parentId":%q,"timestamp":"2030-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":%q}],"timestamp":1}}`+"\n",
			strings.ReplaceAll(text, " ", ""), last.ID, text)
	}},
}

// changed changes a document like a program that keeps the whole document in memory.
func changed(t *testing.T, document []byte, change func(v map[string]any)) []byte {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	change(v)
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExportsAreTheSameSession changes sessions at random, both here and in the program that they
// come from, and exchanges them through the file. Importing an unchanged export must change
// nothing. Importing an export that the program continued must add exactly the program's
// additions and keep those made here.
func TestExportsAreTheSameSession(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for name, p := range programs {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s-%d", name, seed), func(t *testing.T) {
				t.Parallel()
				begun := p.begun
				if strings.Contains(begun, "/testdata/") {
					data, err := os.ReadFile("../../../format/" + begun)
					if err != nil {
						t.Fatal(err)
					}
					begun = string(data)
				}
				c := newClone(t)
				w := walk{clone: c, format: name, program: p, random: rand.New(rand.NewPCG(seed, 12))}
				w.name = c.ImportFile(c.WriteFile(p.path, begun)).Name
				for range 12 {
					w.step()
				}
				c.Fsck()
			})
		}
	}
}

// A walk is a series of changes to one session.
type walk struct {
	*clone
	program      program
	format, name string
	random       *rand.Rand
	said         int
}

func (w *walk) text(who string) string {
	w.said++
	return fmt.Sprintf("%s %d", who, w.said)
}

func (w *walk) step() {
	w.T.Helper()
	tip := w.Tip(w.name)
	switch w.random.IntN(5) {
	case 0, 1:
		w.Appended(w.name, w.text("local"))
	case 2:
		text := w.Shown(w.name)
		for n := w.random.IntN(w.said + 1); n <= w.said; n++ {
			if old := fmt.Sprintf("local %d\n", n); strings.Contains(text, old) {
				w.Saved(w.name, tip.ID, strings.Replace(text, old, w.text("local")+"\n", 1))
				return
			}
		}
	case 3:
		back := w.random.IntN(int(min(tip.Number, 4)))
		w.ImportFile(w.WriteFile(w.program.path, string(w.export(back))))
		if now := w.Tip(w.name); now.ID != tip.ID {
			w.T.Fatalf("the export of the snapshot %d before the newest is a change (-it was +it is):\n%s", back, cmp.Diff(w.Shown(w.name+"@"+tip.ID), w.Shown(w.name)))
		}
	case 4:
		back, before, text := w.random.IntN(int(min(tip.Number, 4))), w.messages(), w.text("program")
		w.ImportFile(w.WriteFile(w.program.path, string(w.program.say(w.T, w.export(back), text))))
		after := w.messages()
		added := slices.DeleteFunc(slices.Clone(after), func(m string) bool { return slices.Contains(before, m) })
		if len(after) != len(before)+1 || len(added) != 1 || !strings.Contains(added[0], text) {
			w.T.Fatalf("the program said %q after the snapshot %d before the newest, which added %d (-it was +it is):\n%s", text, back, len(added), cmp.Diff(w.Shown(w.name+"@"+tip.ID), w.Shown(w.name)))
		}
	}
}

// export returns the export of an earlier snapshot.
func (w *walk) export(back int) []byte {
	w.T.Helper()
	e, err := w.Export(w.T.Context(), engine.ExportRequest{Revision: engine.Revision{Name: w.name, Back: back, Message: -1}, Format: w.format})
	if err != nil {
		w.T.Fatal(err)
	}
	var b bytes.Buffer
	if err := e.Write(&b); err != nil {
		w.T.Fatal(err)
	}
	return b.Bytes()
}

// messages returns the JSON of the session's messages.
func (w *walk) messages() []string {
	w.T.Helper()
	v, err := jsonvalue.ParseValue([]byte(w.ShownIn(w.name, engine.JSON)))
	if err != nil {
		w.T.Fatal(err)
	}
	conversation, _ := v.Get("conversation")
	var all []string
	for _, m := range conversation.Items() {
		all = append(all, m.JSON())
	}
	return all
}

// TestCompactedGoesOn: what an agent adds to a transcript that begins with a summary continues the session with all
// its messages.
func TestCompactedGoesOn(t *testing.T) {
	c := newClone(t)
	summary := strings.Replace(claudeRecord(3, "user", "The summary."), `"isSidechain"`, `"isCompactSummary":true,"isSidechain"`, 1)
	name := c.ImportFile(c.WriteFile("a.jsonl", claudeRecord(1, "user", "Begin "+strings.Repeat("long ", 120_000))+claudeRecord(2, "assistant", "Begun.")+summary+claudeRecord(4, "assistant", "Gone on."))).Name
	for _, format := range []string{"claude-code", "codex"} {
		c.Appended(name, "Changed for "+format)
		before := c.Tip(name).Messages
		out := c.exported(name, format)
		if strings.Contains(out, "Begun.") || !strings.Contains(out, "The summary.") || !strings.Contains(out, "Gone on.") {
			t.Errorf("%s gets\n%.1000s", format, out)
		}
		path := c.WriteFile("out-"+format+".jsonl", out)
		e, err := c.Export(t.Context(), engine.ExportRequest{Revision: engine.Revision{Name: name, Message: -1}, Format: format})
		if err == nil {
			err = c.RememberExport(t.Context(), e, path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if again := c.ImportFile(path); again.Name != name || again.Messages != before {
			t.Errorf("%s: the export is %s with %d messages, expected %d", format, again.Name, again.Messages, before)
		}
	}
	c.Fsck()
}

// geminiGoesOn returns a transcript as Gemini CLI leaves it that resumes it: with its own context, all messages
// written again in the form that it sends to its model, and a new prompt.
func geminiGoesOn(t *testing.T, text, workDir string) string {
	t.Helper()
	parts := func(all ...any) []any { return all }
	text1 := func(s string) any { return map[string]any{"text": s} }
	all := parts(map[string]any{"id": "ctx", "timestamp": "2026-03-03T09:00:00.000Z", "type": "user", "content": parts(text1("<session_context>\nx\n- **Workspace Directories:**\n  - " + workDir + "\n</session_context>"))})
	for line := range strings.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		content, _ := m["content"].([]any)
		if m["type"] == "user" && !strings.Contains(line, "<session_context>") {
			all = append(all, m)
		}
		if m["type"] != "gemini" {
			continue
		}
		if said, _ := m["content"].(string); said != "" {
			content = parts(text1(said))
		}
		calls, _ := m["toolCalls"].([]any)
		var results []any
		for _, c := range calls {
			call := c.(map[string]any)
			content = append(content, map[string]any{"functionCall": map[string]any{"id": call["id"], "name": call["name"], "args": call["args"]}})
			results = append(results, call["result"].([]any)...)
		}
		m["content"] = content
		if all = append(all, m); len(results) > 0 {
			all = append(all, map[string]any{"id": m["id"].(string) + "_response", "timestamp": "2026-03-03T09:00:00.000Z", "type": "user", "content": results})
		}
	}
	out, err := json.Marshal(map[string]any{"$set": map[string]any{"messages": all}})
	if err != nil {
		t.Fatal(err)
	}
	return text + string(out) + "\n" + `{"id":"p9","timestamp":"2026-03-03T09:00:01.000Z","type":"user","content":[{"text":"Go on."}]}` + "\n"
}

// TestGoesOnInGemini: messages of another agent keep what it said about them when Gemini CLI goes on with them and
// writes them again.
func TestGoesOnInGemini(t *testing.T) {
	c := newClone(t)
	call := strings.Replace(claudeRecord(2, "assistant", "x"), `{"type":"text","text":"x"}`, `{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}`, 1)
	result := strings.Replace(claudeRecord(3, "user", "x"), `"content":"x"`, `"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt"}]`, 1)
	if !strings.Contains(call, "toolu_1") || !strings.Contains(result, "toolu_1") {
		t.Fatalf("the records are\n%s%s", call, result)
	}
	info := c.ImportFile(c.WriteFile("a.jsonl", claudeRecord(1, "user", "Begin.")+call+result+claudeRecord(4, "assistant", "Done.")))
	_, before, _ := strings.Cut(c.Shown(info.Name), "\n## ")
	e, err := c.Export(t.Context(), engine.ExportRequest{Revision: engine.Revision{Name: info.Name, Message: -1}, Format: "gemini",
		New: &format.NewSession{ID: "01a20767-acc0-44d7-a84a-e067c0bc9899", WorkDir: "/work/shop"}})
	var out strings.Builder
	if err == nil {
		err = e.Write(&out)
	}
	path := c.WriteFile("out.jsonl", out.String())
	if err == nil {
		err = c.RememberExport(t.Context(), e, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.WriteFile("out.jsonl", geminiGoesOn(t, out.String(), "/work/shop"))
	if again := c.ImportFile(path); again.Name != info.Name || again.Messages != info.Messages+1 {
		t.Errorf("it became %s with %d messages", again.Name, again.Messages)
	}
	_, after, _ := strings.Cut(c.Shown(info.Name), "\n## ")
	if !strings.HasPrefix(after, before) {
		t.Errorf("the messages were\n%s\nand are\n%s", before, after)
	}
	c.Fsck()
}

// TestGeminiBeginsAgain: a transcript that Gemini CLI empties, and then writes again, is one session, which is never
// shorter than it was, whenever it is imported.
func TestGeminiBeginsAgain(t *testing.T) {
	text := `{"sessionId":"s1","projectHash":"3202","startTime":"2026-03-03T08:00:00.000Z"}
{"id":"m1","timestamp":"2026-03-03T08:00:01.000Z","type":"user","content":[{"text":"Begin."}]}
{"id":"m2","timestamp":"2026-03-03T08:00:02.000Z","type":"gemini","content":"Begun."}
`
	emptied := text + `{"$set":{"messages":[{"id":"c","timestamp":"2026-03-03T08:00:03.000Z","type":"user","content":[{"text":"<session_context>x</session_context>"}]}]}}` + "\n"
	_, again, _ := strings.Cut(geminiGoesOn(t, text, "/w"), text)
	set, _, _ := strings.Cut(again, "\n")
	for _, all := range [][]string{{text, emptied, emptied + set + "\n", emptied + again}, {text, emptied, emptied + again}, {text, emptied + again}} {
		c := newClone(t)
		messages := 0
		for i, state := range all {
			info := c.ImportFile(c.WriteFile("a.jsonl", state))
			if list, err := c.Store.List(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("state %d: %d sessions, %v", i, len(list), err)
			}
			if info.Messages < messages {
				t.Errorf("state %d has %d messages after %d", i, info.Messages, messages)
			}
			messages = info.Messages
		}
		if messages != 3 {
			t.Errorf("%d messages in the end", messages)
		}
		c.Fsck()
	}
}
