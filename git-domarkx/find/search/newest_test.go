package search_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
	"github.com/domarkx/domarkx/gitstore"
)

// TestLimit checks that a limited query finds the first of the hits of an unlimited one, in sessions whose messages
// are of different times, and in forks.
func TestLimit(t *testing.T) {
	r := newRepository(t)
	random := rand.New(rand.NewPCG(9, 8))
	messages := make([][]string, 5)
	for range 30 {
		s := random.IntN(len(messages))
		for range 1 + random.IntN(80) {
			text := fmt.Sprintf("number%d ", random.IntN(1000))
			for random.IntN(3) == 0 {
				text += "kettle "
			}
			messages[s] = append(messages[s], text+strings.Repeat(fmt.Sprintf("filler%d ", random.IntN(1000)), 30+random.IntN(150)))
		}
		r.save(fmt.Sprintf("s%d", s), messages[s]...)
	}
	tip, err := r.store.Tip(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.Update(t.Context(), "fork", func(tx *gitstore.Tx) error { return tx.Set(t.Context(), "a-fork", tip.ID) }); err != nil {
		t.Fatal(err)
	}
	find := func(q search.Query) []search.Hit {
		t.Helper()
		hits, err := search.Find(t.Context(), r.store, q, search.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	limits := []int{1, 2, 20, 150}
	if testing.Short() {
		limits = []int{20}
	}
	all := find(fixed("kettle"))
	middle := time.Unix(all[len(all)/2].Date, 0)
	for _, q := range []search.Query{
		words("kettle"), words("number17*"), words("kettle NOT number7"),
		fixed("kettle"), fixed("le"), fixed("number7"), {Text: `number\d7`, Kind: search.Regexp}, {Text: `\d\d7 ke`, Kind: search.Regexp},
	} {
		for _, restrict := range []func(*search.Query){
			func(*search.Query) {},
			func(q *search.Query) { q.Sessions = map[string]bool{"a-fork": true, "s3": true} },
			func(q *search.Query) { q.Since = middle },
			func(q *search.Query) { q.Until = middle },
			func(q *search.Query) { q.Role = domarkx.Assistant },
			func(q *search.Query) { q.History = true },
		} {
			q := q
			restrict(&q)
			all := find(q)
			if len(all) == 0 {
				t.Errorf("%+v finds nothing", q)
			}
			for _, limit := range append(slices.Clone(limits), len(all), len(all)+1) {
				q.Limit = limit
				want := all[:min(limit, len(all))]
				if got := find(q); !reflect.DeepEqual(got, want) {
					t.Fatalf("%+v found %d, expected %d, which are\n%.300v\n%.300v", q, len(got), len(want), got, want)
				}
			}
		}
	}
}
