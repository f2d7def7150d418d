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

// TestSessionInSeveralFiles: files with one id are one session, in whatever order they come, and all that any
// of them says is in its history.
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
		{"Gemini's .json and .jsonl", map[string]string{
			"a.json":  legacy,
			"b.jsonl": gemini + message(1, "user", "first of all") + "\n" + message(2, "gemini", "second of all") + "\n" + message(3, "user", "third of all") + "\n",
		}, []string{"first of all", "second of all", "third of all"}},
		{"several ids in a file", map[string]string{
			"a.jsonl": claudeRecord(1, "user", "first of all") + strings.ReplaceAll(claudeRecord(2, "assistant", "second of all"), "5e55", "5e66") + claudeRecord(3, "user", "third of all"),
		}, []string{"first of all", "second of all", "third of all"}},
	} {
		for _, order := range [][]string{{"a", "b"}, {"b", "a"}, {"b", "a", "b", "a"}} {
			c := newClone(t)
			name := ""
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
			history := c.history(name)
			for _, text := range test.texts {
				if !strings.Contains(history, text) {
					t.Errorf("%s, %v: %q is in no snapshot", test.name, order, text)
				}
			}
		}
	}
}
