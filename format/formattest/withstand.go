package formattest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
)

// Withstand checks that damage to the session changes nothing that can be read around it, and that it
// is reported if bytes were lost or had to be guessed. A word of a prompt says where text is changed.
func (f Fixtures) Withstand(t *testing.T, codec format.Codec, word string) {
	sound := f["session"]
	lines := strings.SplitAfter(strings.TrimSuffix(sound, "\n"), "\n")
	middle := len(lines) / 2
	between := func(line string) string { return strings.Join(slices.Insert(slices.Clone(lines), middle, line), "") }
	in := func(text string) string { return strings.Replace(sound, word, word+text, 1) }
	said := Said(MustOpen(t, codec, sound)[0].Document)
	long := strings.Repeat("x", 10<<20)
	for _, test := range []struct {
		name, text string
		damaged    bool
		added      string // what is said behind the word
	}{
		{"CRLF", strings.ReplaceAll(sound, "\n", "\r\n"), false, ""},
		{"no final line end", strings.TrimSuffix(sound, "\n"), false, ""},
		{"blank lines", strings.ReplaceAll(sound, "\n", "\n\n \n"), false, ""},
		{"byte order mark", "\ufeff" + sound, true, ""},
		{"NULs at the end", sound + strings.Repeat("\x00", 5000), true, ""},
		{"NULs around lines", "\x00" + strings.ReplaceAll(sound, "\n", "\x00\x00\n\x00"), true, ""},
		{"all on one line", strings.ReplaceAll(sound, "\n", ""), true, ""},
		{"a type of tomorrow", between(`{"type":"of-tomorrow","uuid":"t1","payload":{"of":["tomorrow"]},"data":{"of":1}}` + "\n"), false, ""},
		{"an unreadable line", between("garbage\n"), true, ""},
		{"a truncated line", between(lines[middle][:len(lines[middle])/2] + "\n"), true, ""},
		{"a truncated line, then another on it", between(`{"type":"of-tomorrow","data":"cu`), true, ""},
		{"no object", between("[1]\n"), true, ""},
		{"still written", sound + lines[0][:40], true, ""},
		{"U+2028", in("\u2028is"), false, "\u2028is"},
		{"half of a surrogate pair", in(`\ud83d.`), false, "\xed\xa0\xbd."},
		{"10 MB in a line", in(long), false, long},
	} {
		all, err := Open(codec, []byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		doc := all[0].Document
		want := slices.Clone(said)
		for i, text := range want {
			if before, after, ok := strings.Cut(text, word); ok && test.added != "" {
				want[i] = before + strings.Join(strings.Fields(word+test.added), " ") + after
				break
			}
		}
		if diff := cmp.Diff(want, Said(doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", test.name, diff)
		}
		if damaged := len(doc.Damage) > 0; damaged != test.damaged {
			t.Errorf("%s: reports %v", test.name, doc.Damage)
		}
		for _, report := range doc.Damage {
			if test.name != "byte order mark" && report.Line == 0 {
				t.Errorf("%s: a report without a line: %v", test.name, report)
			}
		}
		CheckInert(t, codec.Name, doc)
	}
}
