package recording_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

// TestHear checks which repositories and agents an event is for. The lock is held as by a watcher,
// so that none is started.
func TestHear(t *testing.T) {
	d := newDesk(t)
	if err := os.WriteFile(filepath.Join(d.tree, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	event := func(agent string) recording.Event {
		return recording.Event{Agent: agent, Kind: agents.TurnStop, Time: time.Now()}
	}
	waiting := func() int {
		entries, err := os.ReadDir(filepath.Join(d.dir, "events"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return len(entries)
	}
	if recording.Hear(event("claude-code"), d.tree, "claude-code") || waiting() > 0 {
		t.Error("an event is heard where nothing is recorded")
	}
	d.record("claude-code")
	release, err := recording.Acquire(t.Context(), d.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, tt := range []struct {
		agent, installed, dir string
		want                  bool
	}{
		{"claude-code", "claude-code", d.tree, true},
		{"claude-code", "claude-code", filepath.Join(d.tree, "deep", "er"), true},
		{"cursor", "claude-code", d.tree, true}, // Cursor runs the hooks of Claude Code
		{"codex", "codex", d.tree, false},
		{"claude-code", "claude-code", d.home, false},
		{"claude-code", "claude-code", "", false},
	} {
		before := waiting()
		if got := recording.Hear(event(tt.agent), tt.dir, tt.installed); got != tt.want || (waiting() > before) != tt.want {
			t.Errorf("%s in %q: heard %v, %d more notifications", tt.agent, tt.dir, got, waiting()-before)
		}
	}
	if err := recording.ChangeSettings(t.Context(), d.dir, func(s *recording.Settings) { s.Paused = time.Now() }); err != nil {
		t.Fatal(err)
	}
	if recording.Hear(event("claude-code"), d.tree, "claude-code") {
		t.Error("an event is heard while recording is paused")
	}
}

func TestSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recording")
	s, err := recording.ReadSettings(dir)
	if _, recorded := s.Since("codex"); err != nil || recorded || s.Enabled() {
		t.Errorf("at first: %+v %v", s, err)
	}
	early, late := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 2, 2, 3, 4, 5, 0, time.UTC)
	var changing sync.WaitGroup
	for _, agent := range []string{"claude-code", "codex", "gemini", "qwen", "pi"} { // at the same time
		changing.Go(func() {
			if err := recording.ChangeSettings(context.Background(), dir, func(s *recording.Settings) { s.Agents[agent] = late }); err != nil {
				t.Error(err)
			}
		})
	}
	changing.Wait()
	s, err = recording.ReadSettings(dir)
	if err != nil || len(s.Agents) != 5 || !s.Enabled() {
		t.Errorf("after five changes: %+v %v", s, err)
	}
	s.All = early
	if since, ok := s.Since("codex"); !ok || !since.Equal(early) {
		t.Errorf("an agent that is recorded twice: since %v", since)
	}
	if since, ok := s.Since("cursor"); !ok || !since.Equal(early) {
		t.Errorf("an agent that is not named: since %v", since)
	}
	for _, text := range []string{"{", "[]", ""} {
		if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := recording.ReadSettings(dir); err == nil {
			t.Errorf("%q is read as settings", text)
		}
	}
}
