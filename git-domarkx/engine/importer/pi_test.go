package importer_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

const piHeader = `{"type":"session","version":3,"id":"s","timestamp":"2026-02-18T05:00:00.120Z","cwd":"/w"}` + "\n"

// piEntry returns a message entry of a transcript.
func piEntry(id, parent, role, text string) string {
	if parent = `"` + parent + `"`; parent == `""` {
		parent = "null"
	}
	message := fmt.Sprintf(`{"role":"user","content":%q,"timestamp":1}`, text)
	if role == "assistant" {
		message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q}],"api":"a","provider":"p","model":"m","usage":{},"stopReason":"stop","timestamp":1}`, text)
	}
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-02-18T05:00:01Z","message":%s}`, id, parent, message) + "\n"
}

// ids returns the ids of a session's messages with their contents.
func (c *clone) ids(name string) []string {
	c.T.Helper()
	state, err := c.Store.Load(c.T.Context(), c.Tip(name).ID)
	if err != nil {
		c.T.Fatal(err)
	}
	var ids []string
	for _, e := range state.Thread.Live {
		ids = append(ids, e.ID.String()+" "+e.JSON.ID)
	}
	return ids
}

func (c *clone) names() []string {
	c.T.Helper()
	list, err := c.List(c.T.Context())
	if err != nil {
		c.T.Fatal(err)
	}
	var names []string
	for _, info := range list {
		names = append(names, info.Name)
	}
	return names
}

func (c *clone) export(name string) string {
	c.T.Helper()
	e, err := c.Export(c.T.Context(), engine.ExportRequest{Revision: engine.Revision{Name: name, Message: -1}, Format: "pi", Strict: true})
	if err != nil {
		c.T.Fatal(err)
	}
	var b bytes.Buffer
	if err := e.Write(&b); err != nil {
		c.T.Fatal(err)
	}
	return b.String()
}

func TestImportMakesSessionsOfBranches(t *testing.T) {
	c := newClone(t)
	text := piHeader + piEntry("e1", "", "user", "One") + piEntry("e2", "e1", "assistant", "Two") +
		piEntry("e3", "e2", "user", "Three") + piEntry("e4", "e2", "user", "Other three") + piEntry("e5", "e4", "assistant", "Other four")
	path := c.WriteFile("talk.jsonl", text)
	c.ImportFile(path)
	if names := c.names(); !slices.Equal(names, []string{"talk", "talk.fork-e3"}) {
		t.Fatalf("sessions %q", names)
	}
	main, fork := c.ids("talk"), c.ids("talk.fork-e3")
	if len(main) != 4 || len(fork) != 3 || !slices.Equal(main[:2], fork[:2]) || main[2] == fork[2] {
		t.Errorf("messages %q and %q", main, fork)
	}
	if got := c.export("talk"); got != text {
		t.Errorf("exported:\n%s", got)
	}
	if got := c.export("talk.fork-e3"); strings.Contains(got, "Other three") || !strings.Contains(got, "Three") {
		t.Errorf("the branch exported:\n%s", got)
	}

	// Continuing a branch makes it the main conversation of the transcript.
	before := c.Tip("talk.fork-e3").ID
	text += piEntry("e6", "e3", "assistant", "Four")
	c.WriteFile("talk.jsonl", text)
	c.ImportFile(path)
	if names := c.names(); !slices.Equal(names, []string{"talk", "talk.fork-e3", "talk.fork-e5"}) {
		t.Fatalf("sessions %q", names)
	}
	if now := c.ids("talk"); len(now) != 4 || !slices.Equal(now[:2], main[:2]) {
		t.Errorf("messages %q", now)
	}
	if other := c.ids("talk.fork-e5"); len(other) != 4 || !slices.Equal(other, main) {
		t.Errorf("messages %q, want %q", other, main)
	}
	if c.Tip("talk.fork-e3").ID != before {
		t.Error("a branch that nobody changed has a new snapshot")
	}
	c.Fsck()
}

// TestImportMakesSharedMessagesOnce imports a transcript with many branches. The cost must depend
// on the number of distinct messages, not on the sum over all branches.
func TestImportMakesSharedMessagesOnce(t *testing.T) {
	const trunk, branches = 100, 50
	c := newClone(t)
	var text strings.Builder
	text.WriteString(piHeader)
	last := ""
	for k := range trunk {
		id := fmt.Sprintf("t%d", k)
		text.WriteString(piEntry(id, last, []string{"user", "assistant"}[k%2], "trunk "+id))
		last = id
	}
	for k := range branches {
		id := fmt.Sprintf("b%d", k)
		text.WriteString(piEntry(id, last, "user", "branch "+id) + piEntry(id+"a", id, "assistant", "answer "+id))
	}
	path := c.WriteFile("talk.jsonl", text.String())
	c.ImportFile(path)
	if names := c.names(); len(names) != branches {
		t.Fatalf("%d sessions", len(names))
	}
	if most := 2 * (trunk + 2*branches + 2*branches); c.Made > most { // the last message of each branch is created twice
		t.Errorf("%d messages were made, expected at most %d", c.Made, most)
	}
	main, fork := c.ids("talk"), c.ids("talk.fork-b7a")
	if len(fork) != trunk+2 || !slices.Equal(fork[:trunk], main[:trunk]) || fork[trunk] == main[trunk] {
		t.Errorf("messages %q and %q", main, fork)
	}

	// Importing the transcript with one more entry must not cost as much as all branches.
	c.Made = 0
	c.WriteFile("talk.jsonl", text.String()+piEntry("z", "t0", "assistant", "another branch"))
	c.ImportFile(path)
	if names := c.names(); len(names) != branches+1 {
		t.Fatalf("%d sessions", len(names))
	}
	if most := 4 * (trunk + 4*branches); c.Made > most {
		t.Errorf("%d messages were made, expected at most %d", c.Made, most)
	}
	c.Fsck()
}

func TestImportAppendsWhatATranscriptGrewBy(t *testing.T) {
	c := newClone(t)
	text := piHeader + piEntry("e0", "", "user", "Zero") + piEntry("e1", "e0", "assistant", "One")
	path := c.WriteFile("talk.jsonl", text)
	c.ImportFile(path)
	last := "e1"
	decoded := c.Decoded
	for i, more := range []string{
		piEntry("f1", last, "user", "Two") + piEntry("f2", "f1", "assistant", "Three"),
		`{"type":"model_change","id":"f3","parentId":"f2","timestamp":"2026-02-18T05:00:01Z","provider":"p","modelId":"m"}` + "\n",
		"\n" + piEntry("f4", "f3", "user", "Four"),
		strings.TrimSuffix(piEntry("f5", "f4", "user", "Five"), "\n"),
		"\n" + piEntry("f6", "f5", "user", "Six")[:70],
		piEntry("f6", "f5", "user", "Six")[70:] + piEntry("f7", "f6", "user", "Seven"),
		`{"type":"session_info","id":"f8","parentId":"f7","timestamp":"2026-02-18T05:00:01Z","name":"Talk"}` + "\n",
		piEntry("f9", "f8", "user", "Nine"),
	} {
		text += more
		c.WriteFile("talk.jsonl", text)
		saved := c.ImportFile(path)
		if !saved.Changed || c.Decoded != decoded {
			t.Errorf("%d: changed: %t, decoded as a whole: %d times", i, saved.Changed, c.Decoded-decoded)
		}
		if again := c.ImportFile(path); again.Changed {
			t.Errorf("%d: imported again it changed", i)
		}
		if got := c.export("talk"); got != text {
			t.Fatalf("%d: exported:\n%s\nwant:\n%s", i, got, text)
		}
		fresh := newClone(t)
		fresh.ImportFile(fresh.WriteFile("talk.jsonl", text))
		if grown, want := c.ids("talk"), fresh.ids("talk"); !slices.Equal(grown, want) {
			t.Fatalf("%d: grown to %q, want %q", i, grown, want)
		}
		if grown, want := c.Shown("talk"), fresh.Shown("talk"); grown != want {
			t.Fatalf("%d: grown to:\n%s\nwant:\n%s", i, grown, want)
		}
	}

	// A document that is not a continuation, or whose session was changed, is read in full.
	c.Appended("talk", "Mine")
	text += piEntry("f10", "f9", "user", "Ten")
	c.WriteFile("talk.jsonl", text)
	if saved := c.ImportFile(path); !saved.Merged || c.Decoded != decoded+1 {
		t.Errorf("merged: %t, decoded %d times", saved.Merged, c.Decoded-decoded)
	}
	c.WriteFile("talk.jsonl", strings.Replace(text, "Two", "Too", 1)+piEntry("f11", "f10", "user", "Eleven"))
	c.ImportFile(path)
	if shown := c.Shown("talk"); !strings.Contains(shown, "Too") || !strings.Contains(shown, "Eleven") || !strings.Contains(shown, "Mine") {
		t.Errorf("shown:\n%s", shown)
	}
	c.Fsck()
}

// TestImportCostsWhatATranscriptGrewBy compares the time for one more turn of a short transcript
// with that of one a hundred times as long. Only the time to compare the old bytes may grow,
// which is far below the time for decoding.
func TestImportCostsWhatATranscriptGrewBy(t *testing.T) {
	grow := func(size int) time.Duration {
		c := newClone(t)
		var b strings.Builder
		b.WriteString(piHeader)
		last := ""
		for i := 0; b.Len() < size; i++ {
			id := fmt.Sprintf("%08x", i)
			b.WriteString(piEntry(id, last, []string{"user", "assistant"}[i%2], strings.Repeat("Some text to read. ", 100)))
			last = id
		}
		path := c.WriteFile("talk.jsonl", b.String())
		c.ImportFile(path)
		best := time.Hour
		for i := range 5 {
			id := fmt.Sprintf("f%07x", i)
			b.WriteString(piEntry(id, last, "user", "One turn more"))
			last = id
			c.WriteFile("talk.jsonl", b.String())
			start := time.Now()
			c.ImportFile(path)
			best = min(best, time.Since(start))
		}
		if c.Decoded != 1 {
			t.Errorf("decoded %d times", c.Decoded)
		}
		return best
	}
	size := 10 << 20
	if testing.Short() {
		size = 4 << 20
	}
	short, long := grow(100<<10), grow(size)
	t.Logf("one turn more takes %v at 0.1 MB, %v at %d MB", short, long, size>>20)
	if long > 4*short+100*time.Millisecond {
		t.Errorf("one turn more takes %v at 0.1 MB and %v at %d MB", short, long, size>>20)
	}
}

// TestImportKeepsWhatPiSays: images are files, and what only pi's entries say is in what is written after edits,
// also of the front matter, and in forks.
func TestImportKeepsWhatPiSays(t *testing.T) {
	c := newClone(t)
	image := strings.Replace(piEntry("e1", "", "user", "Look"), `"Look"`, `[{"type":"text","text":"Look"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]`, 1)
	change := `{"type":"model_change","id":"e3","parentId":"e2","timestamp":"2026-02-18T05:00:01Z","provider":"p","modelId":"m"}` + "\n"
	text := piHeader + image + piEntry("e2", "e1", "assistant", "Seen") + change + piEntry("e4", "e3", "user", "Thanks")
	c.ImportFile(c.WriteFile("talk.jsonl", text))
	if shown := c.Shown("talk"); strings.Contains(shown, "base64") || !strings.Contains(shown, "![image](images/") || !strings.Contains(shown, "agent: pi") {
		t.Errorf("shown:\n%s", shown)
	}
	if _, err := c.Fork(t.Context(), engine.Revision{Name: "talk", Message: -1}, "fork"); err != nil {
		t.Fatal(err)
	}
	_, entries, _ := strings.Cut(text, "\n")
	if got := c.export("fork"); !strings.HasSuffix(got, "\n"+entries) || !strings.Contains(got, `"parentSession":"2026-02-18T05-00-00-120Z_s.jsonl"`) {
		t.Errorf("the fork is written as\n%s", got)
	}
	for _, edit := range [][2]string{{"cwd: /w", "cwd: /v"}, {"Thanks", "Good"}} {
		if _, err := c.Edit(t.Context(), "talk", func(data []byte) ([]byte, error) {
			return bytes.Replace(data, []byte(edit[0]), []byte(edit[1]), 1), nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := c.export("talk"), strings.NewReplacer(`"cwd":"/w"`, `"cwd":"/v"`, "Thanks", "Good").Replace(text); got != want {
		t.Errorf("exported:\n%s\nwant:\n%s", got, want)
	}
	c.Fsck()
}

// TestRunLeavesForeignCallsAlone: calls that pi made, including those of an aborted turn, are not
// run again.
func TestRunLeavesForeignCallsAlone(t *testing.T) {
	c := newClone(t)
	call := strings.Replace(piEntry("e2", "e1", "assistant", "x"), `{"type":"text","text":"x"}`, `{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"touch x"}}`, 1)
	c.ImportFile(c.WriteFile("talk.jsonl", piHeader+piEntry("e1", "", "user", "One")+call))
	if shown := c.Shown("talk"); !strings.Contains(shown, "```tool-call") || !strings.Contains(shown, `"no_result"`) {
		t.Errorf("shown:\n%s", shown)
	}
	made := 0
	ran, err := c.Run(t.Context(), turns.RunRequest{Name: "talk", Report: func(turns.CallResult) { made++ },
		Approve: trust.Consent{Yes: true}})
	if err != nil || made != 0 || len(ran.Interrupted) != 0 {
		t.Errorf("%d calls, %+v, %v", made, ran, err)
	}
}
