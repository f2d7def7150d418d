package formattest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
)

// Fixtures are transcripts by name. The one called "session" has a line for each kind of record.
type Fixtures map[string]string

// Golden pins the fixtures, their Markdown, and the transcripts written from them.
func (f Fixtures) Golden(t *testing.T, codec format.Codec) {
	for name, data := range f {
		Golden(t, "testdata/"+name+".jsonl", data)
		CheckTranscript(t, codec, "testdata", name, data)
	}
}

// Any checks that whatever is cut off, repeated or left out, the rest can be shown, stored and
// written.
func (f Fixtures) Any(t *testing.T, codec format.Codec) {
	lines := strings.SplitAfter(strings.TrimSuffix(f["session"], "\n"), "\n")
	rapid.Check(t, func(t *rapid.T) {
		text := lines[0] + strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 20).Draw(t, "lines"), "")
		text = text[:rapid.IntRange(max(0, len(text)-50), len(text)).Draw(t, "cut")]
		CheckAny(t, codec, []byte(text))
	})
}

// Growth checks that reading a transcript in two parts gives the same session as reading it whole,
// whichever lines it has, and that some of the parts are taken for growth.
func (f Fixtures) Growth(t *testing.T, codec format.Codec) {
	data, grew, step := f["session"], 0, 7
	if testing.Short() {
		step = 23
	}
	for cut := strings.IndexByte(data, '\n') + 1; cut <= len(data); cut += step {
		if CheckGrowth(t, codec, []byte(data), cut) {
			grew++
		}
	}
	if grew == 0 {
		t.Error("nothing was taken for growth")
	}
	lines := strings.SplitAfter(data, "\n")
	rapid.Check(t, func(t *rapid.T) {
		text := lines[0]
		for _, line := range lines[1:] {
			if rapid.Bool().Draw(t, "line") {
				text += line
			}
		}
		CheckGrowth(t, codec, []byte(text), rapid.IntRange(0, len(text)).Draw(t, "at"))
	})
}

// Fuzz feeds the decoder with anything, beginning with the fixtures and halves of them.
func (f Fixtures) Fuzz(fuzz *testing.F, codec format.Codec) {
	for _, data := range f {
		fuzz.Add([]byte(data))
		fuzz.Add([]byte(data[:len(data)/2]))
	}
	fuzz.Fuzz(func(t *testing.T, data []byte) { CheckAny(t, codec, data) })
}
