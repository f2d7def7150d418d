package recording_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

func TestIgnore(t *testing.T) {
	i := recording.NewIgnore([]string{"*password*", "Draft ?", "~/work/secret*", "/srv/private", ""}, "/home/ann")
	for title, want := range map[string]bool{"Change the PASSWORD of root": true, "draft 1": true, "Draft 12": false, "": false, "/srv/private": false} {
		if i.Title(title) != want {
			t.Errorf("title %q: ignored %v", title, !want)
		}
	}
	for dir, want := range map[string]bool{"/home/ann/work/secrets/app": true, "/home/ann/work": false, "/srv/private": true,
		"/srv/private/deep/er": true, "/srv/privateer": false, "/home/bob/work/secret": false} {
		if i.Directory(dir) != want {
			t.Errorf("directory %q: ignored %v", dir, !want)
		}
	}
	var none *recording.Ignore
	if none.Title("x") || none.Directory("/x") {
		t.Error("nothing ignores something")
	}
}

// TestIgnoreGlob compares globs with regular expressions.
func TestIgnoreGlob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.RuneFrom([]rune("ab*?é")), 1, 8, -1).Draw(t, "pattern")
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 0, 10, -1).Draw(t, "text")
		quoted := regexp.QuoteMeta(pattern)
		quoted = strings.ReplaceAll(strings.ReplaceAll(quoted, `\*`, ".*"), `\?`, ".")
		want := regexp.MustCompile("^" + quoted + "$").MatchString(text)
		if got := recording.NewIgnore([]string{pattern}, "/").Title(text); got != want {
			t.Fatalf("%q matches %q: %v", pattern, text, got)
		}
	})
}
