package trust_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

func TestIsGitName(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".GIT": true, ".Git": true, "git~1": true, "GIT~1": true, ".git.": true, ".git ": true, ".git . .": true,
		".git::$INDEX_ALLOCATION": true, ".g\u200cit": true, "\ufeff.git": true, ".gi\u2066t": false,
		".gitignore": false, "git": false, "git~2": false, ".git-x": false, "": false, ".": false,
	} {
		if got := trust.IsGitName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestIsRepository(t *testing.T) {
	for names, want := range map[string]bool{"": false, "HEAD": false, "HEAD objects": false, "refs objects": false, "refs HEAD objects": true, "HEAD commondir": true, "commondir refs": false} {
		if got := trust.IsRepository(strings.Fields(names)); got != want {
			t.Errorf("%q: %v, want %v", names, got, want)
		}
	}
}
