package importer_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// history returns all that a session said in its snapshots.
func (c *clone) history(name string) string {
	c.T.Helper()
	var all strings.Builder
	for info, err := range c.Log(c.T.Context(), engine.Revision{Name: name, Message: -1}) {
		if err != nil {
			c.T.Fatal(err)
		}
		if err := c.Show(c.T.Context(), engine.Revision{Name: name, ID: info.ID, Message: -1}, engine.Markdown, &all); err != nil {
			c.T.Fatal(err)
		}
	}
	return all.String()
}

// TestImportKeepsAll: after any sequence of additions, rewrites, imports and edits, each message that
// a transcript had at an import, or that was added to the session, is in one of its snapshots.
func TestImportKeepsAll(t *testing.T) {
	c := newClone(t)
	run := 0
	gittest.Checks(t, 25)
	rapid.Check(t, func(t *rapid.T) {
		run++
		said, lines := 0, []string{}
		id := fmt.Sprintf("5e55%04d", run)
		add := func() {
			said++
			role := []string{"user", "assistant"}[rapid.IntRange(0, 1).Draw(t, "role")]
			lines = append(lines, strings.ReplaceAll(claudeRecord(said, role, fmt.Sprintf("said %d in run %d.", said, run)), `"5e55"`, `"`+id+`"`))
		}
		add()
		var kept []string
		name := ""
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				add()
			case 2: // as a compaction, a migration or a redaction by another program does
				at := rapid.IntRange(0, len(lines)-1).Draw(t, "rewritten")
				if len(lines) > 1 && rapid.Bool().Draw(t, "drop") {
					lines = slices.Delete(slices.Clone(lines), at, at+1)
				} else {
					lines[at] = strings.Replace(lines[at], "said ", "rewritten, said ", 1)
				}
			case 3:
				if name != "" {
					text := fmt.Sprintf("noted %d in run %d.", len(kept), run)
					c.Appended(name, text)
					kept = append(kept, text)
				}
			case 4:
				saved := c.ImportFile(c.WriteFile(fmt.Sprintf("run%d.jsonl", run), strings.Join(lines, "")))
				if name != "" && saved.Name != name {
					t.Fatalf("%s became %s", name, saved.Name)
				}
				name = saved.Name
				for _, line := range lines {
					_, text, _ := strings.Cut(line, `"content":`)
					from := max(strings.Index(text, "said "), 0)
					if rewritten := strings.Index(text, "rewritten"); rewritten >= 0 {
						from = rewritten
					}
					kept = append(kept, text[from:strings.Index(text, ".")+1])
				}
			}
		}
		if name == "" {
			return
		}
		history := c.history(name)
		for _, text := range kept {
			if !strings.Contains(history, text) {
				t.Errorf("%q is in no snapshot of %s", text, name)
			}
		}
	})
}

// TestImportStamp: a transcript that was not written is not read again, and one that was written is,
// also when its size and time are the same.
func TestImportStamp(t *testing.T) {
	c := newClone(t)
	old, stamp := time.Now().Add(-time.Hour), ""
	write := func(text string) string {
		path := c.WriteFile("s.jsonl", claudeRecord(1, "user", text))
		for range 1_000_000 {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if s := local.Stamp(info); s != stamp { // another tick of the file system's clock
				stamp = s
				break
			}
		}
		return path
	}
	first := c.ImportFile(write("Hello"))
	if again := c.ImportFile(write("Hello")); again.Changed || again.ID != first.ID {
		t.Error("the same text is a new snapshot")
	}
	if again := c.ImportFile(write("Jello")); !again.Changed || again.Name != first.Name {
		t.Errorf("another text of the same size and time: %+v", again)
	}
}

// TestImportWhileWritten: ten agents write while imports run, and nothing is lost or doubled.
func TestImportWhileWritten(t *testing.T) {
	c := newClone(t)
	const agents, messages = 10, 30
	var paths []string
	for a := range agents {
		paths = append(paths, c.WriteFile(fmt.Sprintf("a%d.jsonl", a), ""))
	}
	var writing sync.WaitGroup
	for a, path := range paths {
		writing.Go(func() {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for n := 1; n <= messages; n++ {
				record := strings.ReplaceAll(claudeRecord(n, "user", fmt.Sprintf("agent %d says %d.", a, n)), `"5e55"`, fmt.Sprintf(`"5e55%d"`, a))
				half := len(record) / 2 // agents are seen in the middle of a line
				for _, part := range []string{record[:half], record[half:]} {
					if _, err := f.WriteString(part); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		if _, err := c.Import(t.Context(), importer.Request{Paths: paths, Recognized: true}); err != nil {
			t.Fatal(err)
		}
	}
	result, err := c.Import(t.Context(), importer.Request{Paths: paths, Recognized: true})
	if err != nil || len(result.Bad) > 0 || len(result.Sessions) != agents {
		t.Fatalf("%d sessions, %v, %v", len(result.Sessions), result.Bad, err)
	}
	for _, s := range result.Sessions {
		if s.Messages != messages {
			t.Errorf("%s has %d messages, want %d", s.Name, s.Messages, messages)
		}
	}
}
