package refname_test

import (
	"os/exec"
	"testing"

	"github.com/domarkx/domarkx/gitstore/refname"
)

// TestArgument checks with a real shell that a quoted word is one argument, and that plain words are not quoted.
func TestArgument(t *testing.T) {
	for _, word := range []string{"", "b$(id)", "a`id`", "it's", "a;b", "a|b&c", "<x>", "a b", "{a,b}", "!x", `"`, "#x", "~x", "=x", "(x)"} {
		out, err := exec.Command("sh", "-c", `printf '%s|' `+refname.Argument(word)).Output()
		if err != nil || string(out) != word+"|" || refname.Argument(word) == word {
			t.Errorf("%q is %q, printed as %q, %v", word, refname.Argument(word), out, err)
		}
	}
	for _, word := range []string{"talk", "claude-code/2026-01-02-x_y.z", "ünï/会話", "talk#12", "talk~1", "talk@0f", "--resume=1:2"} {
		if got := refname.Argument(word); got != word {
			t.Errorf("%q is quoted: %q", word, got)
		}
	}
}
