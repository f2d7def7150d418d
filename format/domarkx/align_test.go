package domarkx_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"pgregory.net/rapid"
)

// align aligns two lists of words; words that begin alike are edits of each
// other, and a word in capitals is of another role.
func align(old, new []string) domarkx.Alignment {
	keys := func(words []string) []domarkx.Key {
		all := make([]domarkx.Key, len(words))
		for i, w := range words {
			copy(all[i][:], w)
		}
		return all
	}
	return domarkx.Align(keys(old), keys(new), func(o, n int) domarkx.Likeness {
		a, b := old[o], new[n]
		switch {
		case (a == strings.ToUpper(a)) != (b == strings.ToUpper(b)):
			return domarkx.Unlike
		case a[0] == b[0]:
			return domarkx.Alike
		}
		return domarkx.Possible
	})
}

func TestAlign(t *testing.T) {
	tests := []struct {
		name     string
		old, new string
		match    []int
		moved    []int
	}{
		{"nothing", "", "", nil, nil},
		{"the same", "a b c", "a b c", []int{0, 1, 2}, nil},
		{"appended", "a b", "a b c", []int{0, 1, -1}, nil},
		{"removed", "a b c", "a c", []int{0, 2}, nil},
		{"inserted", "a c", "a b c", []int{0, -1, 1}, nil},
		{"edited", "a b c", "a b2 c", []int{0, 1, 2}, nil},
		{"rewritten", "a b c", "a x c", []int{0, 1, 2}, nil},
		{"of another role", "a b c", "a X c", []int{0, -1, 2}, nil},
		{"inserted before an edit", "a b c", "a x b2 c", []int{0, -1, 1, 2}, nil},
		{"repeated words", "o o o", "o o o o", []int{0, 1, 2, -1}, nil},
		{"moved to the end", "a b c", "b c a", []int{1, 2, -1}, []int{-1, -1, 0}},
		{"moved to the front", "a b c", "c a b", []int{-1, 0, 1}, []int{2, -1, -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := align(strings.Fields(tt.old), strings.Fields(tt.new))
			if !slices.Equal(got.Match, tt.match) {
				t.Errorf("matched %v, want %v", got.Match, tt.match)
			}
			if tt.moved != nil && !slices.Equal(got.Moved, tt.moved) {
				t.Errorf("moved %v, want %v", got.Moved, tt.moved)
			}
		})
	}
}

// TestAlignLarge holds the alignment to a bounded number of comparisons where
// every message changed.
func TestAlignLarge(t *testing.T) {
	const n = 50_000
	old, new := make([]domarkx.Key, n), make([]domarkx.Key, n)
	for i := range n {
		old[i][0], old[i][1], old[i][2], new[i] = 1, byte(i), byte(i>>8), old[i]
		new[i][0] = 2
		new[i][1], new[i][2] = byte(i), byte(i>>8)
	}
	compared := 0
	domarkx.Align(old, new, func(o, n int) domarkx.Likeness { compared++; return domarkx.Possible })
	if compared > 10*n {
		t.Errorf("compared %d times for %d messages", compared, n)
	}
}

func TestAlignIsSound(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "c", "a1", "b1", "D", "E"})
	rapid.Check(t, func(t *rapid.T) {
		old, new := rapid.SliceOfN(word, 0, 12).Draw(t, "old"), rapid.SliceOfN(word, 0, 12).Draw(t, "new")
		got := align(old, new)
		last, used := -1, map[int]bool{}
		for _, i := range got.Match {
			if i < 0 {
				continue
			}
			if i <= last {
				t.Fatalf("matches do not rise: %v", got.Match)
			}
			last, used[i] = i, true
		}
		for j, i := range got.Moved {
			switch {
			case i < 0:
			case got.Match[j] >= 0 || used[i] || old[i] != new[j]:
				t.Fatalf("%q moved wrongly: %v of %v", new[j], got, old)
			default:
				used[i] = true
			}
		}
	})
}
