package search_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

// manyHits is more than is found at once (see stream).
const manyHits = 2300

// newManyHits returns a repository whose sessions have so many messages about kettles, at different places.
func newManyHits(t *testing.T) *repository {
	r := newRepository(t)
	for s := range 2 {
		var messages []string
		for i := range manyHits / 2 {
			messages = append(messages, fmt.Sprintf("number%d %s kettle%s", i, strings.Repeat("and so on ", i*7%13), strings.Repeat(" kettle", i%5)))
		}
		r.save(fmt.Sprintf("s%d", s), messages...)
	}
	return r
}

// TestHitsInPieces checks that hits which come in many pieces are those of queries that return them at once.
func TestHitsInPieces(t *testing.T) {
	r := newManyHits(t)
	for _, q := range []search.Query{words("kettle"), words("kettle on"), fixed("kettle"), {Text: "k[e]ttle", Kind: search.Regexp}} {
		var all []search.Hit
		pieces := 0
		for hits, err := range r.each(q) {
			if err != nil {
				t.Fatal(err)
			}
			pieces++
			all = append(all, hits...)
		}
		seen := map[string]bool{}
		for _, h := range all {
			seen[fmt.Sprint(h.Session, h.K)] = true
			if len(h.Matches) == 0 || !strings.HasPrefix(h.Snippet[h.Matches[0][0]:], "k") && q.Text != "kettle on" {
				t.Errorf("%q has matches %v", h.Snippet, h.Matches)
			}
		}
		if len(seen) != len(all) || pieces < 2 {
			t.Errorf("%q: %d different hits in %d, in %d pieces", q.Text, len(seen), len(all), pieces)
		}
		q.Limit = 700
		first, err := search.Find(t.Context(), r.store, q, search.Options{})
		if err != nil || !reflect.DeepEqual(first, all[:700]) {
			t.Errorf("%q: the first are others: %v", q.Text, err)
		}
	}
}

// TestIndexChangesBetweenPieces checks that the index is not locked between pieces of hits, and that each hit comes once, whatever
// happens to the index there.
func TestIndexChangesBetweenPieces(t *testing.T) {
	for what, change := range map[string]func(r *repository){
		"nothing":       func(*repository) {},
		"a new session": func(r *repository) { r.save("new", "a kettle"); r.finds(words("kettle NOT number*"), "new#0") },
		"a removal": func(r *repository) {
			r.remove("s0")
			if err := search.Forget(r.t.Context(), r.store); err != nil {
				r.t.Fatal(err)
			}
		},
		"another file": func(r *repository) {
			if err := os.Remove(r.index()); err != nil {
				r.t.Fatal(err)
			}
			r.finds(words("number17"), "s0#17", "s1#17")
		},
		"no file": func(r *repository) {
			if err := os.Remove(r.index()); err != nil {
				r.t.Fatal(err)
			}
		},
		"damage": func(r *repository) {
			data, err := os.ReadFile(r.index())
			if err != nil {
				r.t.Fatal(err)
			}
			clear(data[8192:])
			data[27]++ // of the counter of changes
			if err := os.WriteFile(r.index(), data, 0o600); err != nil {
				r.t.Fatal(err)
			}
		},
	} {
		for _, q := range []search.Query{words("kettle"), fixed("kettle")} {
			t.Run(fmt.Sprint(what, q.Kind), func(t *testing.T) {
				r := newManyHits(t)
				r.finds(words("number17"), "s0#17", "s1#17")
				seen := map[string]bool{}
				n := 0
				for hits, err := range r.each(q) {
					if err != nil {
						t.Fatal(err)
					}
					if n++; n == 1 {
						change(r.open())
					}
					for _, h := range hits {
						name := fmt.Sprint(h.Session, "#", h.K)
						if seen[name] {
							t.Errorf("%s comes twice", name)
						}
						seen[name] = true
					}
				}
				for i := range manyHits / 2 {
					if !seen[fmt.Sprint("s1#", i)] || !seen[fmt.Sprint("s0#", i)] && what != "a removal" {
						t.Fatalf("message %d of %d is missing", i, len(seen))
					}
				}
				if seen["new#0"] {
					t.Error("a session was found that came after the search")
				}
			})
		}
	}
}
