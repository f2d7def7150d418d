package all_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/all"
)

func TestIsRecord(t *testing.T) {
	for call, want := range map[string]bool{
		`{"resource": "codex", "tool": "x", "arguments": {"resource": "shell"}}`: true,
		`{"resource": "claude-code"}`:                                            true,
		`{"resource": "shell", "arguments": {"resource": "codex"}}`:              false,
		`{"resource": "codex", "resource": "shell"}`:                             false, // the last one counts
		`{"resource": "shell", "resource": "codex"}`:                             true,
		`{"resource": ["codex"]}`:                                                false,
		`{"tool": "codex"}`:                                                      false,
		`{"resource": "codex"`:                                                   false,
		``:                                                                       false,
	} {
		if got := all.IsRecord(call); got != want {
			t.Errorf("%s: %t", call, got)
		}
	}
}
