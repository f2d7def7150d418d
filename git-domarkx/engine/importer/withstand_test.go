package importer_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

// TestRepeatedSnapshots: what an agent writes again and again, such as its prompt and its tools, takes 5 % of
// its size at most.
func TestRepeatedSnapshots(t *testing.T) {
	const times = 40
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(formattest.Read(t, "../../../README.md"))
	var prompt strings.Builder
	for prompt.Len() < 64<<10 {
		prompt.WriteString(words[random.IntN(len(words))] + " ")
	}
	repeated := 0
	stored := func(snapshots bool) int {
		c := newClone(t)
		var text strings.Builder
		for n := range times {
			text.WriteString(claudeRecord(2*n+1, "user", fmt.Sprintf("Question %d of %d", n, random.Uint64())))
			if snapshots {
				line := fmt.Sprintf(`{"type":"attachment","uuid":"%016x","sessionId":"5e55","timestamp":"2026-03-01T10:00:%02d.000Z","attachment":{"type":"prompt_snapshot","rendered":%q,"renderedRole":"system"}}`+"\n",
					random.Uint64(), n%60, prompt.String())
				repeated += len(line)
				text.WriteString(line)
			}
			text.WriteString(claudeRecord(2*n+2, "assistant", fmt.Sprintf("Answer %d is %d", n, random.Uint64())))
		}
		saved := c.ImportFile(c.WriteFile("s.jsonl", text.String()))
		if saved.Messages != 2*times {
			t.Errorf("%d messages, want %d", saved.Messages, 2*times)
		}
		if got := c.exported(saved.Name, "claude-code"); got != text.String() {
			t.Error("the original does not come back")
		}
		c.Fsck()
		return sizeOf(t, filepath.Join(c.Dir, ".git", "objects"))
	}
	without := stored(false)
	if added := stored(true) - without; added*20 > repeated {
		t.Errorf("%d bytes of repeated prompts take %d, more than 5 %%", repeated, added)
	} else {
		t.Logf("%d bytes of repeated prompts take %.1f %%", repeated, float64(added)/float64(repeated)*100)
	}
}

// sizeOf returns the size of the files in a directory.
func sizeOf(t *testing.T, dir string) (size int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err == nil {
			size += int(info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// TestSessionInSeveralFiles: files with one id are one session, in whatever order they come and as a folder, and it has what any
// of them says, once and in order.
func TestSessionInSeveralFiles(t *testing.T) {
	const gemini = `{"sessionId":"f89390e8-0000-4000-8000-000000000009","projectHash":"3202","startTime":"2026-03-03T08:00:00.000Z","lastUpdated":"2026-03-03T08:00:00.000Z"}` + "\n"
	message := func(n int, kind, text string) string {
		return fmt.Sprintf(`{"id":"m%d","timestamp":"2026-03-03T08:00:0%d.000Z","type":%q,"content":%q}`, n, n, kind, text)
	}
	legacy := strings.Replace(strings.TrimSuffix(gemini, "}\n"), `"projectHash"`, `"messages":[`+message(1, "user", "first of all")+","+message(2, "gemini", "second of all")+`],"projectHash"`, 1) + "}\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		texts []string
	}{
		{"a resumed session with a copy of its history", map[string]string{
			"a.jsonl": claudeRecord(1, "user", "first of all") + claudeRecord(2, "assistant", "second of all"),
			"b.jsonl": claudeRecord(1, "user", "first of all") + claudeRecord(2, "assistant", "second of all") + claudeRecord(3, "user", "third of all"),
		}, []string{"first of all", "second of all", "third of all"}},
		{"a session that goes on elsewhere", map[string]string{
			"a.jsonl": claudeRecord(1, "user", "first of all") + claudeRecord(2, "assistant", "second of all"),
			"b.jsonl": claudeRecord(3, "user", "third of all") + claudeRecord(4, "assistant", "fourth of all"),
		}, []string{"first of all", "second of all", "third of all", "fourth of all"}},
		{"files that overlap", map[string]string{
			"a.jsonl": claudeRecord(1, "user", "first of all") + claudeRecord(2, "assistant", "second of all") + claudeRecord(3, "user", "third of all"),
			"b.jsonl": claudeRecord(2, "assistant", "second of all") + claudeRecord(3, "user", "third of all") + claudeRecord(4, "assistant", "fourth of all"),
		}, []string{"first of all", "second of all", "third of all", "fourth of all"}},
		{"files that part", map[string]string{
			"a.jsonl": claudeRecord(1, "user", "first of all") + claudeRecord(2, "assistant", "second of all") + claudeRecord(4, "user", "fourth of all"),
			"b.jsonl": claudeRecord(1, "user", "first of all") + claudeRecord(2, "assistant", "second of all") + claudeRecord(3, "user", "third of all"),
		}, []string{"first of all", "second of all", "third of all", "fourth of all"}},
		{"an older copy with the beginning of an answer", map[string]string{
			"a.jsonl": claudeRecord(1, "user", "first of all") + claudeRecord(2, "assistant", "second of all"),
			"b.jsonl": claudeRecord(1, "user", "first of all") + claudeRecord(2, "assistant", "second of all") + strings.ReplaceAll(claudeRecord(2, "assistant", "third of all"), `"uuid":"u2"`, `"uuid":"u2b"`),
		}, []string{"first of all", "second of all", "third of all"}},
		{"Gemini's .json and .jsonl", map[string]string{
			"a.json":  legacy,
			"b.jsonl": gemini + message(1, "user", "first of all") + "\n" + message(2, "gemini", "second of all") + "\n" + message(3, "user", "third of all") + "\n",
		}, []string{"first of all", "second of all", "third of all"}},
		{"a copy of pi's that went on", map[string]string{
			"a.jsonl": piHeader + piEntry("e1", "", "user", "first of all") + piEntry("e2", "e1", "assistant", "second of all"),
			"b.jsonl": piHeader + piEntry("e1", "", "user", "first of all") + piEntry("e2", "e1", "assistant", "second of all") + piEntry("e3", "e2", "user", "third of all"),
		}, []string{"first of all", "second of all", "third of all"}},
		{"several ids in a file", map[string]string{
			"a.jsonl": claudeRecord(1, "user", "first of all") + strings.ReplaceAll(claudeRecord(2, "assistant", "second of all"), "5e55", "5e66") + claudeRecord(3, "user", "third of all"),
		}, []string{"first of all", "second of all", "third of all"}},
	} {
		for _, order := range [][]string{{"a", "b"}, {"b", "a"}, {"b", "a", "b", "a"}, nil} {
			c := newClone(t)
			name := ""
			if order == nil { // a folder
				for path, text := range test.files {
					c.WriteFile("all/"+path, text)
				}
				name = c.ImportOne(importer.Request{Paths: []string{filepath.Join(c.Dir, "all")}}).Name
			}
			for _, file := range order {
				for path, text := range test.files {
					if strings.HasPrefix(path, file) {
						name = c.ImportFile(c.WriteFile(path, text)).Name
					}
				}
			}
			list, err := c.Store.List(t.Context())
			if err != nil || len(list) != 1 {
				t.Errorf("%s, %v: %d sessions, %v", test.name, order, len(list), err)
				continue
			}
			shown, at := c.Shown(name), -1
			for _, text := range test.texts {
				if i := strings.Index(shown, "\n"+text); strings.Count(shown, "\n"+text) != 1 || i < at {
					t.Errorf("%s, %v: %q is not in its place:\n%s", test.name, order, text, shown)
				} else {
					at = i
				}
			}
		}
	}
}

// TestMigratedTranscripts: a transcript that its program wrote anew in another form is the same session, with
// the same messages and the messages added here, and goes on.
func TestMigratedTranscripts(t *testing.T) {
	codex := func(paginated bool, more string) string {
		var b strings.Builder
		n := 0
		line := func(kind, payload string) {
			n++
			fmt.Fprintf(&b, `{"timestamp":"2026-03-02T09:00:%02d.000Z","type":%q,"payload":%s`, n, kind, payload)
			if paginated {
				fmt.Fprintf(&b, `,"ordinal":%d,"metadata":{"history_sequence":%d}`, n, n)
			}
			b.WriteString("}\n")
		}
		message := func(role, kind, text string) {
			id, event := "", fmt.Sprintf(`{"type":%q,"message":%q}`, map[string]string{"user": "user_message", "assistant": "agent_message"}[role], text)
			if paginated {
				id = fmt.Sprintf(`,"id":"msg_%d","internal_chat_message_metadata_passthrough":{"content_item_metadata":[{"provenance":{"type":"user"}}]}`, n)
				event = fmt.Sprintf(`{"type":"item_completed","item":{"type":%q,"id":"i%d","content":[{"type":"text","text":%q}]}}`, map[string]string{"user": "UserMessage", "assistant": "AgentMessage"}[role], n, text)
			}
			line("response_item", fmt.Sprintf(`{"type":"message","role":%q%s,"content":[{"type":%q,"text":%q}]}`, role, id, kind, text))
			line("event_msg", event)
		}
		const id = "019ca000-0000-7000-8000-00000000000a"
		meta := fmt.Sprintf(`{"id":%q,"timestamp":"2026-03-02T09:00:00.000Z","cwd":"/w","source":"cli"}`, id)
		if paginated {
			meta = strings.Replace(meta, "}", fmt.Sprintf(`,"session_id":%q,"history_mode":"paginated"}`, id), 1)
		}
		line("session_meta", meta)
		message("user", "input_text", "List the files.")
		line("turn_context", `{"cwd":"/w","model":"gpt-5.5","summary":"auto"}`)
		line("response_item", `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"call_1"}`)
		line("response_item", `{"type":"function_call_output","call_id":"call_1","output":"one file"}`)
		message("assistant", "output_text", "It is there.")
		if more != "" {
			message("user", "input_text", more)
		}
		return b.String()
	}
	const id = `"sessionId":"f89390e8-0000-4000-8000-00000000000a","projectHash":"p","startTime":"2026-03-03T08:00:00.000Z","lastUpdated":"2026-03-03T08:00:09.000Z"`
	gemini := func(lines bool, more string) string {
		said := []string{
			`{"id":"1","timestamp":"2026-03-03T08:00:01.000Z","type":"user","content":"List the files."}`,
			`{"id":"2","timestamp":"2026-03-03T08:00:02.000Z","type":"gemini","content":"It is there.","model":"m","toolCalls":[{"id":"call_1","name":"ls","args":{},"result":[{"functionResponse":{"id":"call_1","name":"ls","response":{"output":"one file"}}}],"status":"success","timestamp":"2026-03-03T08:00:02.000Z"}]}`,
		}
		if more != "" {
			said = append(said, fmt.Sprintf(`{"id":"3","timestamp":"2026-03-03T08:00:03.000Z","type":"user","content":%q}`, more))
		}
		if lines {
			return "{" + id + "}\n" + strings.Join(said, "\n") + "\n"
		}
		return "{\n" + id + ",\n\"messages\": [\n" + strings.Join(said, ",\n") + "\n]\n}\n"
	}
	for _, test := range []struct {
		name, before, after, grown string
		files                      [2]string
		messages                   int // at first
	}{
		{"Codex, paginated", codex(false, ""), codex(true, ""), codex(true, "Go on."), [2]string{"rollout.jsonl", "rollout.jsonl"}, 3},
		{"Gemini, JSON lines", gemini(false, ""), gemini(true, ""), gemini(true, "Go on."), [2]string{"session.json", "session.jsonl"}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newClone(t)
			first := c.ImportFile(c.WriteFile(test.files[0], test.before))
			c.Appended(first.Name, "Noted here.")
			migrated := c.ImportFile(c.WriteFile(test.files[1], test.after))
			grown := c.ImportFile(c.WriteFile(test.files[1], test.grown))
			if migrated.Name != first.Name || grown.Name != first.Name {
				t.Fatalf("%s became %s and %s", first.Name, migrated.Name, grown.Name)
			}
			if n := test.messages; first.Messages != n || migrated.Messages != n+1 || grown.Messages != n+2 {
				t.Errorf("%d, %d and %d messages:\n%s", first.Messages, migrated.Messages, grown.Messages, c.Shown(first.Name))
			}
			for _, text := range []string{"List the files.", "one file", "It is there.", "Noted here.", "Go on."} {
				_, shown, _ := strings.Cut(c.Shown(first.Name), "\n## ")
				if n := strings.Count(shown, text); n != 1 {
					t.Errorf("%q is there %d times:\n%s", text, n, shown)
				}
			}
			c.Fsck()
		})
	}
}
