package turns_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// again opens the repository a second time, like another process.
func (c *clone) again() *clone {
	c.T.Helper()
	return openClone(c.T, c.Dir, c.Settings)
}

func TestASignalDuringACallIsRecorded(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("wait", "{}")+"\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`))
	c.Notes.Waiting = make(chan struct{})
	signal := errors.New("signal")
	ctx, end := context.WithCancelCause(t.Context())
	go func() { <-c.Notes.Waiting; end(signal) }()
	var got []string
	_, err := c.Run(ctx, turns.RunRequest{Name: "s", Report: func(r turns.CallResult) { got = append(got, line(r)) }})
	if !errors.Is(err, signal) || !slices.Equal(got, []string{"0.0 notes wait interrupted"}) {
		t.Fatalf("%v, %q", err, got)
	}
	if c.File(t, c.link("s", 0), "half") != "done" {
		t.Error("what the call left is in no version")
	}
	c.Notes.Waiting = nil
	ran := c.runs("s", "0.1 notes write ok")
	if len(ran.Interrupted) != 1 {
		t.Errorf("interrupted %+v", ran.Interrupted)
	}
	if n := len(c.Notes.Calls()); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// TestAKillDuringACall simulates a kill of the process during a call.
func TestAKillDuringACall(t *testing.T) {
	for _, how := range []string{"run", "exec"} {
		t.Run(how, func(t *testing.T) {
			c := newClone(t)
			text := enginetest.NotesConfig + "\n## assistant\n\nhello\n"
			if how == "run" {
				text += "\n" + enginetest.CallBlock("write", `{"name": "a", "text": "1"}`) + "\nbye\n"
			}
			c.Trusted("s", text)
			c.killDuringCall(func(victim *clone) {
				if how == "run" {
					victim.Run(t.Context(), turns.RunRequest{Name: "s"})
				} else {
					victim.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=a", "text=1"}})
				}
			})
			states, err := c.WorkspaceStates(t.Context())
			if err != nil || !slices.ContainsFunc(states, func(s turns.WorkspaceState) bool { return s.State == turns.StateInterrupted }) {
				t.Errorf("states %+v, %v", states, err)
			}
			k := "0.0"
			if how == "exec" {
				k = "1.0"
			}
			ran := c.runs("s", k+" notes write interrupted")
			if ran.Failed != 1 {
				t.Error("the interrupted call does not count as failed")
			}
			if got := c.Shown("s"); !strings.Contains(got, `"code": "interrupted"`) {
				t.Errorf("got %s", got)
			}
			c.runs("s")
			lines, _, err := c.run(turns.RunRequest{Name: "s", Retry: true})
			if err != nil || !slices.Equal(lines, []string{k + " notes write ok"}) {
				t.Errorf("retried %q, %v", lines, err)
			}
			if got := c.Shown("s"); strings.Contains(got, "interrupted") || strings.Count(got, "tool-result") != 1 {
				t.Errorf("got %s", got)
			}
			if held, err := c.IsTrusted(t.Context(), c.Tip("s")); !held || err != nil {
				t.Errorf("trusted %v, %v", held, err)
			}
			c.Fsck()
		})
	}
}

// killDuringCall copies the repository during a call and then replaces it with the copy. The
// result is the same as after a kill at that moment.
func (c *clone) killDuringCall(do func(victim *clone)) {
	c.T.Helper()
	copied := filepath.Join(c.T.TempDir(), "copy")
	victim := c.again()
	var once sync.Once
	var kept map[string][]string
	victim.Notes.During = func() {
		once.Do(func() {
			kept = maps.Clone(c.Settings.Values)
			if out, err := exec.Command("cp", "-a", filepath.Join(c.Dir, ".git"), copied).CombinedOutput(); err != nil {
				c.T.Errorf("%v: %s", err, out)
			}
		})
	}
	do(victim)
	c.Settings.Values = kept
	if err := os.RemoveAll(filepath.Join(c.Dir, ".git")); err != nil {
		c.T.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", copied, filepath.Join(c.Dir, ".git")).CombinedOutput(); err != nil {
		c.T.Fatalf("%v: %s", err, out)
	}
	begun, err := filepath.Glob(filepath.Join(c.Dir, ".git/domarkx/calls/*.json"))
	if err != nil || len(begun) != 1 {
		c.T.Fatalf("journal %q, %v", begun, err)
	}
	data, err := os.ReadFile(begun[0])
	if err != nil {
		c.T.Fatal(err)
	}
	v, err := jsonvalue.ParseValue(data)
	if err != nil {
		c.T.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		c.T.Fatal(err)
	}
	v = v.With("process", number(gone.Process.Pid))
	if err := os.WriteFile(begun[0], v.AppendJSON(nil, "", ""), 0o600); err != nil {
		c.T.Fatal(err)
	}
	fresh := c.again()
	c.SessionManager, c.Store, c.Env = fresh.SessionManager, fresh.Store, fresh.Env
}

func TestTheSessionMovesOnDuringACall(t *testing.T) {
	const first = enginetest.NotesConfig + "\n## assistant\n\nhello\n\n"
	for name, test := range map[string]struct {
		edit func(text string) string
		want string // the call that the result follows
	}{
		"another message before": {func(s string) string {
			return strings.Replace(s, "## assistant", "## user\n\nfirst\n\n## assistant", 1)
		}, "1.0"},
		"other words": {func(s string) string { return strings.Replace(s, "hello", "bye", 1) }, "0.0"},
		"another call before": {func(s string) string {
			return strings.Replace(s, "hello", "hello\n\n"+enginetest.CallBlock("read", `{"name": "x"}`), 1)
		}, "0.1"},
		"the message goes": {func(string) string { return enginetest.NotesConfig + "\n## user\n\nnothing\n" }, "1.0"},
		"another call":     {func(s string) string { return strings.Replace(s, `"text": "1"`, `"text": "2"`, 1) }, "1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.Trusted("s", first+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`))
			other := c.again()
			var once sync.Once
			c.Notes.During = func() {
				once.Do(func() { other.Saved("s", other.Tip("s").ID, test.edit(other.Shown("s"))) })
			}
			lines, _, err := c.run(turns.RunRequest{Name: "s"})
			if err != nil || len(lines) == 0 || !strings.HasPrefix(lines[0], test.want+" notes write ok") {
				t.Fatalf("%q, %v\n%s", lines, err, c.Shown("s"))
			}
			got := c.Shown("s")
			if !strings.Contains(got, "\"text\": \"1\"}}\n```\n\n```tool-result\n{\"ok\": true") {
				t.Errorf("the result is not behind its call: %s", got)
			}
			c.Fsck()
		})
	}
}

func TestAnEditedCallIsPendingAgain(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`)+"\n"+enginetest.CallBlock("write", `{"name": "b", "text": "1"}`)+"\n"+enginetest.CallBlock("read", `{"name": "b"}`))
	c.runs("s", "0.0 notes write ok", "0.1 notes write ok", "0.2 notes read ok")
	was := c.link("s", 0)
	c.Saved("s", c.Tip("s").ID, strings.Replace(c.Shown("s"), `"b", "text": "1"`, `"b", "text": "2"`, 1))
	if c.link("s", 0) != "" {
		t.Error("it is still linked")
	}
	c.runs("s", "0.1 notes write ok", "0.2 notes read ok")
	got := c.Shown("s")
	if strings.Count(got, "tool-result") != 3 || !strings.Contains(got, `"result": "2"`) || c.link("s", 0) == "" || c.link("s", 0) == was {
		t.Errorf("got %s", got)
	}
	c.runs("s")
	c.Saved("s", c.Tip("s").ID, got+"\nmore words\n")
	if c.link("s", 0) == "" {
		t.Error("words took the link away")
	}
	c.runs("s")
	c.Fsck()
}

func TestALargeOutputIsAnAttachment(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("large", "{}"))
	c.Notes.Reading = func() {
		if left, _ := filepath.Glob(filepath.Join(c.Store.StateDir(), "output-*")); len(left) > 0 {
			t.Errorf("a kill would leave %q", left)
		}
	}
	c.runs("s", "0.0 notes large ok")
	shown := c.ShownIn("s#0", engine.Markdown)
	_, sum, ok := strings.Cut(shown, `"attachment": "`)
	if !ok {
		t.Fatalf("got %s", shown)
	}
	content, err := c.Store.Attachment(t.Context(), c.Tip("s").ID, sum[:64])
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if content.Size() != 3<<20 {
		t.Errorf("%d bytes", content.Size())
	}
	c.Appended("s", "and it stays")
	again, err := c.Store.Attachment(t.Context(), c.Tip("s").ID, sum[:64])
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	c.Fsck()
}

func TestCallsOfSeveralProcessesTakeTurns(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## user\n\nhi\n")
	const processes, each = 4, 3
	var done sync.WaitGroup
	for p := range processes {
		other := c.again()
		done.Go(func() {
			for i := range each {
				name := string(rune('a'+p)) + string(rune('0'+i))
				r, err := other.Exec(context.Background(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=" + name, "text=x"}})
				if err != nil || !r.OK {
					t.Errorf("%+v, %v", r, err)
				}
				if err := other.appendText("s", name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	tip := c.Tip("s")
	if tip.Messages != 1+2*processes*each {
		t.Errorf("%d messages", tip.Messages)
	}
	for k := range tip.Messages {
		e, err := c.Store.Entry(t.Context(), tip.ID, k)
		if err != nil {
			t.Fatal(err)
		}
		if e.Role != domarkx.Assistant {
			continue
		}
		msg := c.ShownIn("s#"+number(k).Text(), engine.Markdown)
		_, name, _ := strings.Cut(msg, `"name": "`)
		if got := c.File(t, e.Link, name[:2]); got != "x" {
			t.Errorf("message %d is linked to a version without its note %s", k, name[:2])
		}
	}
	if held, err := c.IsTrusted(t.Context(), tip); !held || err != nil {
		t.Errorf("trusted %v, %v", held, err)
	}
	c.Fsck()
}

func (c *clone) appendText(name, text string) error {
	_, err := c.Append(context.Background(), turns.AppendRequest{Name: name, New: true, Role: "user", Text: text})
	return err
}

// TestATurnIsSmall checks that a turn with one small call on a small workspace stays within its
// budget.
func TestATurnIsSmall(t *testing.T) {
	const objects, size = 15, 10 << 10
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\nhello\n")
	exec := func(name string) {
		t.Helper()
		if r, err := c.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=" + name, "text=x" + name}}); err != nil || !r.OK {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	for i := range 20 {
		exec("n" + number(i).Text())
	}
	n, bytes := c.objects()
	exec("last")
	after, bytesAfter := c.objects()
	t.Logf("exec: %d objects, %d bytes", after-n, bytesAfter-bytes)
	if after-n > objects || bytesAfter-bytes > size {
		t.Errorf("exec: %d objects, %d bytes", after-n, bytesAfter-bytes)
	}
	if _, err := c.Append(t.Context(), turns.AppendRequest{Name: "s", New: true, Role: "assistant", Text: "I write:\n" + enginetest.CallBlock("write", `{"name": "more", "text": "y"}`)}); err != nil {
		t.Fatal(err)
	}
	n, bytes = c.objects()
	c.runs("s", "22.0 notes write ok")
	after, bytesAfter = c.objects()
	t.Logf("run: %d objects, %d bytes", after-n, bytesAfter-bytes)
	if after-n > objects || bytesAfter-bytes > size {
		t.Errorf("run: %d objects, %d bytes", after-n, bytesAfter-bytes)
	}
}

// objects returns the number of objects in the repository and their size on disk.
func (c *clone) objects() (n, size int) {
	c.T.Helper()
	out, err := exec.Command("git", "-C", c.Dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectsize:disk)").Output()
	if err != nil {
		c.T.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		v, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			c.T.Fatal(err)
		}
		n, size = n+1, size+v
	}
	return n, size
}

func number(n int) jsonvalue.Value { return jsonvalue.NumberValue(strconv.Itoa(n)) }
