package blame_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/blame"
)

// TestTexts checks that texts of commits and of the index are looked up like those of the work tree, only in the wanted
// lines, and that git blame does not go beyond a commit.
func TestTexts(t *testing.T) {
	d := newDesk(t)
	commit := func() string {
		d.git("add", ".")
		d.git("commit", "-qm", "state")
		return d.git("rev-parse", "HEAD")
	}
	d.write("one", "old")
	d.write("two", "first")
	base := commit()
	d.change("talk", "one", "old")
	d.call("talk", "one", "old new")
	d.write("one", "old new hand")
	tip := commit()
	d.write("one", "changed since")
	d.write("two", "first staged")
	d.git("add", "two")
	texts := []blame.Text{
		{Path: "one", Data: []byte(lines("old new hand")), Ranges: []blame.Range{{First: 2, Last: 3}}, Commit: tip},
		{Path: "one", Data: []byte(lines("old new hand")), Ranges: []blame.Range{{First: 1, Last: 1}, {First: 3, Last: 9}}, Commit: tip, Since: base},
		{Path: "two", Data: []byte(lines("first staged")), Ranges: []blame.Range{{First: 1, Last: 2}}, Staged: true},
		{Path: "gone", Data: []byte(lines("x")), Ranges: []blame.Range{{First: 1, Last: 1}}, Commit: tip},
	}
	want := []string{"new=talk#0 hand@tip", "old hand@tip", "first@base staged", "x"}
	var got []string
	err := d.m.Texts(t.Context(), texts, func(_ int, found []blame.Line) {
		var words []string
		for _, line := range found {
			word := line.Text + author(line.Origin)
			switch line.Commit {
			case tip:
				word += "@tip"
			case base:
				word += "@base"
			}
			if line.Commit != "" && line.Author != "Bo" {
				t.Errorf("%s is of %q", word, line.Author)
			}
			words = append(words, word)
		}
		got = append(got, strings.Join(words, " "))
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}
