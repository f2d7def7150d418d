package pi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/pi"
)

// told returns the result of reading a transcript, as text.
func told(codec format.Codec, data string) string {
	all, err := formattest.Open(codec, []byte(data))
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for _, branch := range all {
		fmt.Fprintf(&b, "%s %s %d\n%s\n", branch.Suffix, branch.State, branch.Read, branch.Document.Header.Value().JSON())
		for _, report := range branch.Document.Damage {
			fmt.Fprintln(&b, report)
		}
		for _, m := range branch.Document.Conversation {
			fmt.Fprintln(&b, m.Origin, m.Message.Value().JSON())
		}
	}
	return b.String()
}

// TestReadAgain: entries that are read from the file again are those that were kept in memory,
// in transcripts of all versions, sound and damaged.
func TestReadAgain(t *testing.T) {
	var lines []string
	for _, name := range []string{"v1", "v2", "v3", "branches"} {
		text := formattest.Read(t, "testdata/"+name+".jsonl")
		if diff := cmp.Diff(told(pi.Codec(), text), told(pi.Keeping(0), text)); diff != "" {
			t.Errorf("%s (-kept +read again):\n%s", name, diff)
		}
		lines = append(lines, strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")[1:]...)
	}
	lines = append(lines, one, two, three, header, two[:80]+"\n", "5\n", "{}\n", "\x00"+one, strings.TrimSuffix(one, "\n")+two,
		"\xff\n", strings.Replace(three, `"id":"e3",`, "", 1), strings.Replace(three, `"e2"`, `"e3"`, 1))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Replace(header, "3", rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "version"), 1) +
			strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 30).Draw(t, "lines"), "")
		text = text[:rapid.IntRange(max(0, len(text)-100), len(text)).Draw(t, "cut")]
		keep := rapid.Int64Range(0, 2000).Draw(t, "keep")
		if diff := cmp.Diff(told(pi.Codec(), text), told(pi.Keeping(keep), text)); diff != "" {
			t.Fatalf("(-kept +read again):\n%s\n%s", diff, text)
		}
	})
}

func FuzzReadAgain(f *testing.F) {
	for _, name := range []string{"v1", "v2", "v3", "branches"} {
		f.Add(formattest.Read(f, "testdata/"+name+".jsonl"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if diff := cmp.Diff(told(pi.Codec(), text), told(pi.Keeping(0), text)); diff != "" {
			t.Fatalf("(-kept +read again):\n%s", diff)
		}
	})
}
