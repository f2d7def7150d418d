package domarkx_test

import (
	"slices"
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func headerOf(json string) domarkx.HeaderEntry {
	return domarkx.HeaderEntry{JSON: domarkx.Blob{ID: json}}
}

// Any edits and exchanges of headers between three clones end in the same headers,
// whoever merges first, and no title that nobody replaced is lost.
func TestMergeOfHeadersConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := []domarkx.HeaderEntry{headerOf("start")}
		clones := [3]*domarkx.State{{Headers: start}, {Headers: start}, {Headers: start}}
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			i := rapid.IntRange(0, 2).Draw(t, "clone")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				title := rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "title")
				clones[i] = &domarkx.State{Headers: domarkx.ReviseHeader(clones[i].Headers, headerOf(title), []byte(title))}
			case 1: // what belonged to one snapshot goes, and the revision stays
				headers := slices.Clone(clones[i].Headers)
				headers[0].JSON.ID += "-"
				clones[i] = &domarkx.State{Headers: headers}
			case 2:
				clones[i] = domarkx.MergeStates(clones[i], clones[rapid.IntRange(0, 2).Draw(t, "from")])
			}
		}
		a, b, c := clones[0], clones[1], clones[2]
		merged := domarkx.MergeStates(domarkx.MergeStates(a, b), c)
		for name, other := range map[string]*domarkx.State{
			"commutative": domarkx.MergeStates(c, domarkx.MergeStates(b, a)),
			"associative": domarkx.MergeStates(a, domarkx.MergeStates(b, c)),
			"idempotent":  domarkx.MergeStates(merged, merged),
			"again":       domarkx.MergeStates(b, merged),
		} {
			if diff := cmp.Diff(merged.Headers, other.Headers); diff != "" {
				t.Fatalf("not %s:\n%s", name, diff)
			}
		}
	})
}

// A forged repository, where each of two headers says that it replaced the other,
// still merges into one that can be shown.
func TestMergeOfHeadersThatReplacedEachOther(t *testing.T) {
	a, b := headerOf("a"), headerOf("b")
	a.Rev, b.Rev = domarkx.Rev{1}, domarkx.Rev{2}
	a.Past, b.Past = []domarkx.Rev{{2}}, []domarkx.Rev{{1}}
	merged := domarkx.MergeStates(&domarkx.State{Headers: []domarkx.HeaderEntry{a}}, &domarkx.State{Headers: []domarkx.HeaderEntry{b}})
	if len(merged.Headers) != 2 {
		t.Errorf("%d headers, want both", len(merged.Headers))
	}
}
