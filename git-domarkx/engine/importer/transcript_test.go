package importer_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// claudeRecord returns a record of the user or the assistant in a transcript of Claude Code.
func claudeRecord(n int, role, text string) string {
	content := fmt.Sprintf("%q", text)
	if role == "assistant" {
		content = `[{"type":"text","text":` + content + `}]`
	}
	return fmt.Sprintf(`{"parentUuid":"u%d","isSidechain":false,"type":%q,"uuid":"u%d","sessionId":"5e55","cwd":"/w","timestamp":"2026-03-01T10:00:%02d.000Z","message":{"id":"m%d","role":%q,"content":%s}}`,
		n-1, role, n, n%60, n, role, content) + "\n"
}

func (c *clone) exported(name, format string) string {
	c.T.Helper()
	e, err := c.Export(c.T.Context(), engine.ExportRequest{Revision: engine.Revision{Name: name, Message: -1}, Format: format})
	if err != nil {
		c.T.Fatal(err)
	}
	var b bytes.Buffer
	if err := e.Write(&b); err != nil {
		c.T.Fatal(err)
	}
	return b.String()
}

// TestImportCompressed: a compressed transcript is the session of the plain one, and its original is
// what it holds.
func TestImportCompressed(t *testing.T) {
	c := newClone(t)
	text := claudeRecord(1, "user", "Begin") + claudeRecord(2, "assistant", "Begun")
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	path := c.WriteFile("a.jsonl.zst", string(encoder.EncodeAll([]byte(text), nil)))
	first := c.ImportFile(path)
	if first.Name != "claude-code/2026-03-01-begin" || c.exported(first.Name, "claude-code") != text {
		t.Errorf("%s exported as\n%s", first.Name, c.exported(first.Name, "claude-code"))
	}
	if again := c.ImportFile(path); again.Changed || again.ID != first.ID {
		t.Error("the same file is a new snapshot")
	}
	if plain := c.ImportFile(c.WriteFile("a.jsonl", text)); plain.Name != first.Name || plain.Changed {
		t.Errorf("the plain file became %s", plain.Name)
	}
	text += claudeRecord(3, "user", "Go on")
	if grown := c.ImportFile(c.WriteFile("a.jsonl", text)); grown.Name != first.Name || grown.Messages != 3 {
		t.Errorf("the grown file became %s with %d messages", grown.Name, grown.Messages)
	}
	damaged := encoder.EncodeAll([]byte(text), nil)
	result, err := c.Import(t.Context(), importer.Request{Paths: []string{c.WriteFile("b.jsonl.zst", string(damaged[:len(damaged)-3]))}})
	if err != nil || len(result.Bad) != 1 || !strings.Contains(result.Bad[0].Error(), "reading the compressed file") {
		t.Errorf("%v, %v", result.Bad, err)
	}
	if left, _ := os.ReadDir(os.TempDir()); slices.ContainsFunc(left, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), "git-domarkx-") && strings.HasSuffix(e.Name(), ".jsonl")
	}) {
		t.Error("a temporary file is left")
	}
	c.Fsck()
}

// TestTranscriptImages: images are files beside the session, are written where they were, and change
// nothing when the transcript is imported again, grows, or comes back from an edit.
func TestTranscriptImages(t *testing.T) {
	c := newClone(t)
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	picture := func(n int, data string) string {
		return strings.Replace(claudeRecord(n, "user", "Look"), `"Look"`, `[{"type":"text","text":"Look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+data+`"}}]`, 1)
	}
	files := func(name string) (paths []string) {
		list, err := c.Store.Files(t.Context(), c.Tip(name).ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			paths = append(paths, f.Path)
		}
		return paths
	}
	text := picture(1, png) + claudeRecord(2, "assistant", "Seen") + picture(3, png)
	path := c.WriteFile("a.jsonl", text)
	name := c.ImportFile(path).Name
	shown := c.Shown(name)
	if got := files(name); len(got) != 1 || strings.Contains(shown, "base64") || strings.Count(shown, "![image]("+got[0]+")") != 2 {
		t.Fatalf("files %q of\n%s", got, shown)
	}
	if c.exported(name, "claude-code") != text {
		t.Error("the export differs")
	}
	text += picture(5, "R0lGODlhAQABAAAAACw=")
	c.WriteFile("a.jsonl", text)
	if grown := c.ImportFile(path); grown.Messages != 4 || len(files(name)) != 2 {
		t.Errorf("%d messages, files %q", grown.Messages, files(name))
	}
	c.Appended(name, "And?")
	for _, format := range []string{"claude-code", "codex"} {
		out := c.exported(name, format)
		if strings.Count(out, png) != 2 || !strings.Contains(out, "R0lGODlhAQABAAAAACw=") || !strings.Contains(out, "And?") {
			t.Errorf("%s:\n%s", format, out)
		}
	}
	if back := c.ImportFile(c.WriteFile("b.jsonl", c.exported(name, "claude-code"))); back.Name != name || back.Messages != 5 || len(files(name)) != 2 {
		t.Errorf("came back as %s with %d messages, files %q\n%s", back.Name, back.Messages, files(name), c.Shown(name))
	}
	c.Fsck()
}

// TestTranscriptKeepsEveryMessage: whatever is appended to a transcript, rewritten in it, imported and
// edited, every message that was ever imported or written is in some snapshot of the session.
func TestTranscriptKeepsEveryMessage(t *testing.T) {
	for seed := range uint64(gittest.Rounds(2, 80)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			c := newClone(t)
			var said []string // every text that was in the session
			records := []string{claudeRecord(1, "user", "text 1 begin")}
			texts := []string{"text 1 begin"}
			name, n := "", 1
			for step := range 14 {
				switch random.IntN(5) {
				case 0, 1: // the agent goes on
					for range 1 + random.IntN(3) {
						n++
						text := fmt.Sprintf("text %d of step %d", n, step)
						records, texts = append(records, claudeRecord(n, []string{"assistant", "user"}[n%2], text)), append(texts, text)
					}
				case 2: // a program rewrites the file: a message is gone, or redacted
					k := random.IntN(len(records))
					if len(records) > 1 && random.IntN(2) == 0 {
						records, texts = slices.Delete(records, k, k+1), slices.Delete(texts, k, k+1)
					} else {
						redacted := fmt.Sprintf("redacted %d", step)
						records[k] = strings.Replace(records[k], texts[k], redacted, 1)
						texts[k] = redacted
					}
				case 3: // the user goes on here
					if name != "" {
						text := fmt.Sprintf("own text %d", step)
						c.Appended(name, text)
						said = append(said, text)
					}
				case 4: // the user edits
					if name != "" {
						if _, err := c.Edit(t.Context(), name, func(data []byte) ([]byte, error) {
							return append(data, fmt.Sprintf("\nEdited %d\n", step)...), nil
						}); err != nil {
							t.Fatal(err)
						}
						said = append(said, fmt.Sprintf("Edited %d", step))
					}
				}
				saved := c.ImportFile(c.WriteFile("a.jsonl", strings.Join(records, "")))
				if name == "" {
					name = saved.Name
				}
				if saved.Name != name {
					t.Fatalf("step %d: the session %s became %s", step, name, saved.Name)
				}
				said = append(said, texts...)
			}
			var history bytes.Buffer
			for info, err := range c.Store.Ancestors(t.Context(), c.Tip(name).ID) {
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Write(t.Context(), info.ID, engine.Markdown, &history); err != nil {
					t.Fatal(err)
				}
			}
			for _, text := range said {
				if !strings.Contains(history.String(), text) {
					t.Errorf("%q is in no snapshot", text)
				}
			}
		})
	}
}
