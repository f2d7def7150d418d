package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

func TestBest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 8))
	for range 300 {
		scores := make([]float32, 1+random.IntN(300))
		for i := range scores {
			scores[i] = float32(random.IntN(1 + random.IntN(200)))
		}
		n := 1 + random.IntN(40)
		chosen, sorted := search.Best(scores, n)
		if !slices.Equal(chosen, sorted[:min(n, len(sorted))]) {
			t.Fatalf("the best %d of %v are %v", n, scores, chosen)
		}
	}
}

// TestOrder checks what makes a match better: the word is rarer, or there more often, in text rather than
// in calls, and in a shorter message; of equal ones that which was indexed last is the first.
func TestOrder(t *testing.T) {
	r := newRepository(t)
	filler := strings.Repeat("and many other words that say nothing ", 5)
	call := "```tool-call\n{\"resource\": \"shell\", \"tool\": \"exec\", \"arguments\": {\"command\": %q}}\n```"
	r.save("a",
		"kettle "+filler,
		"kettle kettle "+filler,
		fmt.Sprintf(call, "kettle "+filler),
		"kettle "+filler+filler,
		"teapot kettle "+filler,
		"getKettleByName getKettleByName2 "+filler,
		"equal match",
		"equal match ",
		"cup "+filler,
		"cup spoon "+filler,
		"spoon "+filler,
		"spoon now "+filler,
	)
	for query, want := range map[string][]int{
		"kettle":                   {1, 0, 4, 3, 2, 5},
		"kettle teapot":            {4},
		"equal":                    {7, 6},
		"cup OR spoon":             {9, 8, 10, 11},
		"spoon NOT cup":            {10, 11},
		"spoon NOT absent":         {10, 11, 9},
		`kettle NOT "say nothing"`: nil,
		`"say nothing" spoon`:      {10, 11, 9},
		`"words th"* cup`:          {8, 9},
		`"th words"* cup`:          nil,
		"getKet*":                  {5},
		"KettleBy":                 {5},
		"nameGet":                  nil, // parts of two identifiers
	} {
		hits, err := search.Find(t.Context(), r.store, words(query), search.Options{})
		var got []int
		for _, h := range hits {
			got = append(got, h.K)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: found %v, expected %v, %v", query, got, want, err)
		}
	}
}
