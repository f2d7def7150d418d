package engine_test

import (
	"strings"
	"testing"
)

// TestMergeMarksTextsThatStandTwice edits a session on two sides so that two of the merged
// messages contain, or could contain, the same text.
func TestMergeMarksTextsThatStandTwice(t *testing.T) {
	const base = "## user\n\nhow is the weather in the north\n\n## assistant\n\nit rains there all day long\n\n## user\n\nthank you very much\n\n## assistant\n\nyou are welcome\n"
	const said = "it rains there all day long"
	replace := strings.NewReplacer
	edited := replace(said, said+" and night").Replace(base)
	moved := func(from, to int) string {
		messages := strings.Split(strings.TrimPrefix(base, "## "), "\n## ")
		for i := range messages {
			messages[i] = "## " + strings.TrimRight(messages[i], "\n") + "\n"
		}
		m := messages[from]
		messages = append(messages[:from:from], messages[from+1:]...)
		messages = append(messages[:to:to], append([]string{m}, messages[to:]...)...)
		return strings.Join(messages, "\n")
	}
	tests := []struct {
		name, ours, theirs string
		texts, marks       int
	}{
		{"joined against edited", replace("\n## assistant\n\n"+said, "\n"+said).Replace(base), edited, 2, 2},
		{"role changed against edited", replace("## assistant\n\n"+said, "## user\n\n"+said).Replace(base), edited, 2, 2},
		{"joined by both", replace("\n## assistant\n\n"+said, "\n"+said).Replace(base), replace("\n## assistant\n\n"+said, "\n"+said).Replace(base), 1, 0},
		{"role changed by both", replace("## assistant\n\n"+said, "## user\n\n"+said).Replace(base), replace("## assistant\n\n"+said, "## user\n\n"+said).Replace(base), 1, 0},
		{"moved by both", moved(1, 3), moved(1, 0), 1, 0},
		{"moved against edited", moved(1, 3), edited, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, sides := range [][2]string{{tt.ours, tt.theirs}, {tt.theirs, tt.ours}} {
				c := newClone(t)
				from := c.ImportFile(c.WriteFile("a.md", base))
				if first := c.Saved("a", from.ID, sides[0]); first.Merged {
					t.Fatal("merged before there was anything to merge")
				}
				c.Saved("a", from.ID, sides[1])
				got := c.Shown("a")
				if n := strings.Count(got, said); n != tt.texts {
					t.Errorf("the text stands %d times, want %d:\n%s", n, tt.texts, got)
				}
				if n := strings.Count(got, `"conflict"`); n != tt.marks {
					t.Errorf("%d texts are marked, want %d:\n%s", n, tt.marks, got)
				}
				c.Fsck()
			}
		})
	}
}
