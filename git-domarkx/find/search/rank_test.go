package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

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

// TestProse checks that messages which say a word themselves come before those that have it in a call or result, however often,
// and that the snippets are of their own text.
func TestProse(t *testing.T) {
	r := newRepository(t)
	const call = "```tool-call\n{\"resource\": \"shell\", \"tool\": \"exec\", \"arguments\": {\"command\": %q}}\n```"
	filler := strings.Repeat("and many other words that say nothing ", 20)
	r.save("a",
		fmt.Sprintf(call, strings.Repeat("kettle ", 50)),
		filler+filler+"the kettle is said last",
		fmt.Sprintf(call, "kettle in a call")+"\n\nThe kettle boils.",
		fmt.Sprintf(call, "kettle here")+"\n\nIt is done.",
		"getKettle is a part",
	)
	find := func(q search.Query) (found []int, snippets []string) {
		hits, err := search.Find(t.Context(), r.store, q, search.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			found, snippets = append(found, h.K), append(snippets, h.Snippet)
		}
		return found, snippets
	}
	q := words("kettle")
	if found, _ := find(q); slices.Index(found, 0) > slices.Index(found, 1) {
		t.Errorf("the usual order is %v", found)
	}
	q.Prose = true
	found, snippets := find(q)
	first := slices.Sorted(slices.Values(found[:2]))
	if !slices.Equal(first, []int{1, 2}) || len(found) != 5 {
		t.Errorf("found %v", found)
	}
	for i, k := range found {
		if want := map[int]string{1: "the kettle is said last", 2: "The kettle boils.", 3: "kettle here"}[k]; !strings.Contains(snippets[i], want) {
			t.Errorf("the snippet of %d is %q", k, snippets[i])
		}
	}
	q.Limit = 1
	if found, _ := find(q); !slices.Equal(found, first[:1]) && !slices.Equal(found, first[1:]) {
		t.Errorf("the best is %v", found)
	}
	q = fixed("kettle")
	q.Prose = true
	if found, snippets := find(q); found[0] != 3 || !strings.Contains(snippets[1], "The kettle boils.") {
		t.Errorf("a fixed text: %v, %q", found, snippets)
	}
}

// TestCount checks the number of hits, with and without a limit.
func TestCount(t *testing.T) {
	r := newManyHits(t)
	x, err := search.Open(t.Context(), r.store, search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, q := range []search.Query{words("kettle"), fixed("kettle"), words("absent")} {
		q.Limit = 3
		want := manyHits
		if q.Text == "absent" {
			want = 0
		}
		for _, most := range []int{1, 100, manyHits, manyHits + 1} {
			hits, n, err := x.Best(t.Context(), q, most)
			if n != min(want, most) || len(hits) != min(want, q.Limit) || err != nil {
				t.Errorf("%q has %d hits of at most %d, and returns %d, %v", q.Text, n, most, len(hits), err)
			}
		}
	}
}
