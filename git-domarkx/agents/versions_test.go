//go:build unix

package agents_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// TestVersions: programs that do not answer hold up the others no longer than the one bound for all
// of them, also when they leave a child behind that keeps their output open.
func TestVersions(t *testing.T) {
	for _, test := range []struct {
		bound   time.Duration
		scripts map[string]string
		want    map[string]string
	}{
		{
			time.Minute,
			map[string]string{"claude": "echo 2.1.330 '(Claude Code)'", "qwen": "echo no number", "pi": "echo 1.2.3; exit 1"},
			map[string]string{"claude-code": "2.1.330", "codex": "-", "copilot": "-", "cursor": "-", "gemini": "-", "opencode": "-", "pi": "?", "qwen": "?"},
		},
		{
			200 * time.Millisecond,
			map[string]string{"codex": "sleep 600", "gemini": "sleep 600 & sleep 600"},
			map[string]string{"claude-code": "-", "codex": "?", "copilot": "-", "cursor": "-", "gemini": "?", "opencode": "-", "pi": "-", "qwen": "-"},
		},
	} {
		dir := t.TempDir()
		t.Setenv("PATH", dir+":/usr/bin:/bin")
		for name, script := range test.scripts {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), test.bound)
		began := time.Now()
		versions := agents.Versions(ctx, agents.All())()
		cancel()
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("took %v", took)
		}
		got := map[string]string{}
		for i, a := range agents.All() {
			got[a.Name] = versions[i]
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
