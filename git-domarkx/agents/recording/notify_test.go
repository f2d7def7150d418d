package recording

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
)

func TestNotify(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i, name := range []string{"Stop", "SessionStart"} {
		e := Event{Agent: "claude-code", Kind: agents.KindOf(name), Name: name, Time: now.Add(-time.Duration(i) * time.Second)}
		if err := Notify(dir, e); err != nil {
			t.Fatal(err)
		}
	}
	old := Event{Agent: "claude-code", Time: now.Add(-time.Hour)}
	long := Event{Agent: "codex", Transcript: strings.Repeat("x", 2*maxEvent), Time: now.Add(time.Second)}
	for _, e := range []Event{old, long, {Agent: "codex", Kind: Recorded, Time: now}} {
		if err := Notify(dir, e); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"bad.json": "{", ".left": "", "other.json": "[]"} {
		if err := os.WriteFile(filepath.Join(eventsDir(dir), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(eventsDir(dir), "link.json")); err != nil {
		t.Fatal(err)
	}
	in := newInbox(dir)
	got := in.take(now)
	if len(got) != 3 || got[0].Name != "SessionStart" || got[1].Name != "Stop" || got[2].Agent != "codex" || got[2].Transcript != "" {
		t.Errorf("taken: %+v", got)
	}
	if again := in.take(now); len(again) != 0 {
		t.Errorf("taken twice: %+v", again)
	}
}

func TestNotifyIsBounded(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i := range maxWaiting {
		if err := Notify(dir, Event{Agent: "codex", Time: now.Add(time.Duration(i))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := Notify(dir, Event{Agent: "codex", Time: now}); err == nil {
		t.Error("notifications that nobody takes fill the disk")
	}
	if n := len(newInbox(dir).take(now)); n != maxWaiting {
		t.Errorf("taken: %d", n)
	}
}
