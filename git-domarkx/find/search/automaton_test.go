package search_test

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

// sameMatches compares what an expression matches with what package regexp finds.
func sameMatches(t *testing.T, pattern string, texts ...string) {
	t.Helper()
	re, err := regexp.Compile(pattern)
	if err != nil {
		return
	}
	got, err := search.Matches(pattern, texts...)
	if err != nil {
		t.Errorf("%q: %v", pattern, err)
		return
	}
	for i, text := range texts {
		if want := re.MatchString(text); got[i] != want {
			t.Errorf("%q in %q: %v, expected %v", pattern, text, got[i], want)
		}
	}
}

func TestMatches(t *testing.T) {
	texts := []string{"", "a", "ab\nba", "\n", "word\n", "the rate limit", "größe 限制", "x86_64 = 0x12", "\xff\xfe a", "a\xc3", "KELVIN \u212a", "aaaaaaaaab", strings.Repeat("ab ", 3000) + "c"}
	for _, pattern := range []string{"a", "(?m)^b", "(?m)a$", "a$", `\Aab`, `b\z`, `\bword\b`, `\Bo`, `.`, `(?s).\n.`, `[^a]`, `(?i)k`, `a*b`, `(a|ab)(c|bcd)?$`, `\d+_\d+`, `[[:upper:]]{3}`, `\pL{5}`, `限.`,
		`x*`, `(?m)^$`, `(?m)^\w+\s=`, `(a+)+$`, `\x{212a}`, `[\x{80}-\x{10ffff}]`, `c$`, `\b\B`, `(?m)$^`} {
		sameMatches(t, pattern, texts...)
	}
}

// TestMatchesOfManyStates uses an expression for which an automaton has more states than it keeps.
func TestMatchesOfManyStates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 20 {
		var b strings.Builder
		for range 3000 {
			b.WriteByte("ab"[random.IntN(2)])
		}
		texts = append(texts, b.String(), b.String()+"c")
	}
	sameMatches(t, `a[ab]{14}c`, texts...)
}

// TestMatchesOfRandomExpressions builds expressions and texts of few characters.
func TestMatchesOfRandomExpressions(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var build func(depth int) string
	build = func(depth int) string {
		if depth == 0 {
			return []string{"a", "b", "é", ".", "[^a]", `\n`, "^", "$", `\b`, `\B`, `\A`, `\z`, `\w`, ""}[random.IntN(14)]
		}
		x, y := build(depth-1), build(depth-1)
		return []string{x + y, "(" + x + "|" + y + ")", "(?:" + x + ")*" + y, "(" + x + ")+?", "(?:" + x + "){1,2}" + y, "(?m:" + x + y + ")"}[random.IntN(6)]
	}
	for range 3000 {
		texts := make([]string, 6)
		for i := range texts {
			for range random.IntN(7) {
				texts[i] += []string{"a", "b", "é", "\n", " ", "\xff"}[random.IntN(6)]
			}
		}
		sameMatches(t, build(random.IntN(4)), texts...)
	}
}

func FuzzMatches(f *testing.F) {
	f.Add(`\b(a|b)+$`, "ab ab")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if re, err := syntax.Parse(pattern, syntax.Perl); err != nil || len(re.String()) > 200 || len(text) > 1000 {
			t.Skip("too large, or no expression")
		}
		sameMatches(t, pattern, text)
	})
}
