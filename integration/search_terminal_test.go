package integration_test

import (
	"strings"
	"testing"
)

// TestSearchOnATerminal checks that matches are highlighted on a terminal, and nothing but them, and that a text
// cannot write control characters to it.
func TestSearchOnATerminal(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("limits.md", "## user\n\nthe rate limit \x1b[31mof \u202ethis\n\n## assistant\n\nanother limit\n")
	r.domarkx("import", "limits.md")
	term := newTerminal(t, r, "git-domarkx search limit; git-domarkx search -n 1 -e another..imit; git-domarkx search -F absent")
	term.shows("STATUS 1")
	if screen := term.screen(); !strings.Contains(screen, "limits#0  ") || !strings.Contains(screen, "\n  the rate limit ") || !strings.Contains(screen, "[31mof") {
		t.Errorf("the terminal shows\n%s", screen)
	}
	colored := term.tmux("capture-pane", "-p", "-e")
	for _, match := range []string{"limit", "another limit"} {
		if !strings.Contains(colored, "\x1b[1m\x1b[31m"+match) {
			t.Errorf("%q is not highlighted in\n%q", match, colored)
		}
	}
	if strings.Contains(colored, "mthe rate") || strings.Contains(colored, "\u202e") || strings.Contains(colored, "\x1b[31mof") {
		t.Errorf("something else is highlighted, or controls the terminal:\n%q", colored)
	}
}
