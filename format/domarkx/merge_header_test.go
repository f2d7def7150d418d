package domarkx_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
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

// TestDropContinued keeps the headers that no other one continues, whatever their order.
func TestDropContinued(t *testing.T) {
	header := func(origin string, rev byte) domarkx.HeaderEntry {
		return domarkx.HeaderEntry{Rev: domarkx.Rev{rev}, Past: []domarkx.Rev{{1}}, Origin: origin}
	}
	continues := func(longer, shorter domarkx.HeaderEntry) (bool, error) {
		return len(longer.Origin) > len(shorter.Origin) && strings.HasPrefix(longer.Origin, shorter.Origin), nil
	}
	short, long, longest, other := header("a", 2), header("ab", 3), header("abc", 4), header("x", 5)
	for _, headers := range [][]domarkx.HeaderEntry{{short, long, longest, other}, {longest, short, other, long}, {other, long, longest, short}} {
		kept, err := domarkx.DropContinued(headers, continues)
		if err != nil || len(kept) != 2 {
			t.Fatalf("kept %+v, %v", kept, err)
		}
		for _, h := range kept {
			if h.Origin != "abc" && h.Origin != "x" || !slices.Equal(h.Past, []domarkx.Rev{{1}, {2}, {3}}) {
				t.Errorf("kept %+v", h)
			}
		}
	}
	if len(short.Past) != 1 {
		t.Error("the headers that were given changed")
	}
	broken := errors.New("broken")
	if _, err := domarkx.DropContinued([]domarkx.HeaderEntry{short, long}, func(_, _ domarkx.HeaderEntry) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestMergeGrown: of a message that both imports have, the newer text counts, and a link of the other one stays.
func TestMergeGrown(t *testing.T) {
	state := func(json, link string) *domarkx.State {
		return &domarkx.State{Headers: []domarkx.HeaderEntry{headerOf("h")}, Thread: domarkx.Thread{Live: []domarkx.Entry{{ID: domarkx.ID{1}, JSON: domarkx.Blob{ID: json}, Link: link}}}}
	}
	for _, c := range []struct{ older, newer, link, oldLink, newLink string }{
		{"a", "b", "", "", ""}, {"b", "a", "", "", ""}, {"a", "b", "v", "v", ""}, {"b", "a", "w", "v", "w"}, {"a", "a", "v", "v", ""},
	} {
		live := domarkx.MergeGrown(state(c.older, c.oldLink), state(c.newer, c.newLink)).Thread.Live
		if len(live) != 1 || live[0].JSON.ID != c.newer || live[0].Link != c.link {
			t.Errorf("%+v: merged to %+v", c, live)
		}
	}
}
