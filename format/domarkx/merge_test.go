package domarkx_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// text makes an entry that says s.
func text(s string) domarkx.Entry {
	return domarkx.Entry{Role: domarkx.User, JSON: domarkx.Blob{ID: s}}
}

func texts(t *domarkx.Thread) []string {
	var all []string
	for _, e := range t.Live {
		all = append(all, e.JSON.ID)
	}
	return all
}

// replica is one clone of a session; its writer says things nobody else says.
type replica struct {
	name   string
	said   int
	thread *domarkx.Thread
	past   []*domarkx.Thread
}

func (r *replica) say() string {
	r.said++
	return fmt.Sprintf("%s%d", r.name, r.said)
}

// edit gives the replica the list of texts that f makes of its list, as a save
// in an editor would.
func (r *replica) edit(f func([]string) []string) {
	old := texts(r.thread)
	next := f(slices.Clone(old))
	keys := func(all []string) []domarkx.Key {
		ks := make([]domarkx.Key, len(all))
		for i, s := range all {
			copy(ks[i][:], s)
		}
		return ks
	}
	e := domarkx.Edit{Alignment: domarkx.Align(keys(old), keys(next), func(o, n int) domarkx.Likeness {
		if slices.Contains([]string{old[o] + "'", old[o] + "''"}, next[n]) || strings.HasPrefix(next[n], old[o]+"+") {
			return domarkx.Alike
		}
		return domarkx.Unlike
	})}
	e.Joined = joined(e.Alignment, old, next)
	for j, s := range next {
		e.Next = append(e.Next, text(s))
		e.Same = append(e.Same, e.Match[j] >= 0 && old[e.Match[j]] == s)
	}
	e.NewID = func(j int, _ domarkx.Revised, clock uint32, after domarkx.ID) domarkx.ID {
		return domarkx.DeriveID(clock, []byte(r.name), []byte(r.say()), after[:])
	}
	r.past = append(r.past, r.thread)
	r.thread = r.thread.Revise(e)
	if got := texts(r.thread); !slices.Equal(got, next) {
		panic(fmt.Sprintf("saved %q, got %q", next, got))
	}
}

// joined says which texts that are not there any more became parts of others.
func joined(a domarkx.Alignment, old, next []string) []int {
	into := slices.Repeat([]int{-1}, len(old))
	for i, s := range old {
		if !slices.Contains(a.Match, i) && !slices.Contains(a.Moved, i) {
			into[i] = slices.IndexFunc(next, func(n string) bool { return strings.HasSuffix(n, "+"+s) })
		}
	}
	return into
}

func (r *replica) step(t *rapid.T) {
	r.do(t, rapid.SampledFrom([]string{"append", "append", "insert", "edit", "edit", "delete", "move", "join", "rewind", "restore"}).Draw(t, r.name))
}

func (r *replica) do(t *rapid.T, op string) {
	n := len(r.thread.Live)
	at := func(label string) int { return rapid.IntRange(0, max(0, n-1)).Draw(t, label) }
	switch {
	case op == "append" || n == 0:
		r.edit(func(s []string) []string { return append(s, r.say(), r.say()) })
	case op == "insert":
		k := at("at")
		r.edit(func(s []string) []string { return slices.Insert(s, k, r.say()) })
	case op == "edit":
		k := at("at")
		r.edit(func(s []string) []string {
			s[k] += rapid.SampledFrom([]string{"'", "''"}).Draw(t, "edit")
			return s
		})
	case op == "delete":
		k := at("at")
		r.edit(func(s []string) []string { return slices.Delete(s, k, k+1) })
	case op == "move":
		from, to := at("from"), at("to")
		r.edit(func(s []string) []string {
			moved := s[from]
			return slices.Insert(slices.Delete(s, from, from+1), to, moved)
		})
	case op == "join" && n > 1:
		k := rapid.IntRange(0, n-2).Draw(t, "at")
		r.edit(func(s []string) []string {
			s[k] += "+" + s[k+1]
			return slices.Delete(s, k+1, k+2)
		})
	case op == "rewind":
		r.past = append(r.past, r.thread)
		r.thread = r.thread.Truncate(at("keep"))
	case op == "restore" && len(r.past) > 0:
		target := r.past[rapid.IntRange(0, len(r.past)-1).Draw(t, "past")]
		r.thread = r.thread.Revert(target)
		if got, want := texts(r.thread), texts(target); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Fatalf("restored %q, got %q", want, got)
		}
	}
	if again := domarkx.Merge(r.thread, r.thread); !cmp.Equal(again, r.thread, equateEmpty) {
		t.Fatalf("merged with itself: %s", cmp.Diff(r.thread, again, equateEmpty))
	}
}

var equateEmpty = cmp.FilterValues(func(a, b []domarkx.Rev) bool { return len(a) == 0 && len(b) == 0 }, cmp.Comparer(func(a, b []domarkx.Rev) bool { return true }))

func TestMergeConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := &domarkx.Thread{}
		clones := []*replica{{name: "a", thread: base}, {name: "b", thread: base}, {name: "c", thread: base}}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			r := clones[rapid.IntRange(0, 2).Draw(t, "clone")]
			if from := clones[rapid.IntRange(0, 2).Draw(t, "from")]; from != r && rapid.Bool().Draw(t, "pull") {
				r.past = append(r.past, r.thread)
				r.thread = domarkx.Merge(r.thread, from.thread)
				continue
			}
			r.step(t)
		}
		a, b, c := clones[0].thread, clones[1].thread, clones[2].thread
		same := func(what string, x, y *domarkx.Thread) {
			t.Helper()
			if diff := cmp.Diff(x, y); diff != "" {
				t.Fatalf("merging is not %s:\n%s", what, diff)
			}
		}
		ab := domarkx.Merge(a, b)
		same("commutative", ab, domarkx.Merge(b, a))
		same("idempotent", ab, domarkx.Merge(ab, b))
		same("associative", domarkx.Merge(ab, c), domarkx.Merge(a, domarkx.Merge(b, c)))
	})
}

// TestMergeKeepsTextsOnce has two sides change one session; nobody settles a conflict or takes
// anything back.
func TestMergeKeepsTextsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := &replica{name: "o", thread: &domarkx.Thread{}}
		base.edit(func([]string) []string { return []string{"p", "q", "r", "s", "t"} })
		a, b := &replica{name: "a", thread: base.thread}, &replica{name: "b", thread: base.thread}
		for _, r := range []*replica{a, b} {
			for range rapid.IntRange(1, 5).Draw(t, r.name) {
				r.do(t, rapid.SampledFrom([]string{"append", "insert", "edit", "delete", "move", "join"}).Draw(t, "op"))
			}
		}
		unmarkedTwice(t, domarkx.Merge(a.thread, b.thread))
	})
}

// unmarkedTwice fails where what one side wrote stands in two messages that are not in conflict.
func unmarkedTwice(t *rapid.T, merged *domarkx.Thread) {
	seen := map[string]int{}
	for k, e := range merged.Live {
		for part := range strings.SplitSeq(e.JSON.ID, "+") {
			part = strings.TrimRight(part, "'")
			if first, twice := seen[part]; twice && !(domarkx.InConflict(domarkx.EntryList(merged.Live), first) && domarkx.InConflict(domarkx.EntryList(merged.Live), k)) {
				t.Fatalf("%q stands twice, and not as texts of one message: %q", part, texts(merged))
			}
			seen[part] = k
		}
	}
}

func TestMerge(t *testing.T) {
	tests := []struct {
		name   string
		base   []string
		ours   func([]string) []string
		theirs func([]string) []string
		want   []string // in any order of the two sides
	}{
		{"runs appended on both sides do not mix", []string{"x"},
			func(s []string) []string { return append(s, "a1", "a2") },
			func(s []string) []string { return append(s, "b1", "b2") }, []string{"x", "a1", "a2", "b1", "b2"}},
		{"an edit beats a removal", []string{"x", "y"},
			func(s []string) []string { return []string{"x", "y'"} },
			func(s []string) []string { return []string{"x"} }, []string{"x", "y'"}},
		{"two edits both stay", []string{"x", "y"},
			func(s []string) []string { return []string{"x'", "y"} },
			func(s []string) []string { return []string{"x''", "y"} }, []string{"x'", "x''", "y"}},
		{"one edit made twice is one", []string{"x"},
			func(s []string) []string { return []string{"x'"} },
			func(s []string) []string { return []string{"x'"} }, []string{"x'"}},
		{"removed on both sides", []string{"x", "y"},
			func(s []string) []string { return []string{"y"} },
			func(s []string) []string { return []string{"y"} }, []string{"y"}},
		{"a message that both sides move stands once", []string{"x", "y", "z", "w"},
			func(s []string) []string { return []string{"x", "z", "w", "y"} },
			func(s []string) []string { return []string{"y", "x", "z", "w"} }, []string{"x", "y", "z", "w"}},
		{"moved to one place by both", []string{"x", "y", "z", "w"},
			func(s []string) []string { return []string{"y", "x", "z", "w"} },
			func(s []string) []string { return []string{"y", "x", "z", "w"} }, []string{"x", "y", "z", "w"}},
		{"moved and edited", []string{"x", "y", "z", "w"},
			func(s []string) []string { return []string{"x", "z", "w", "y"} },
			func(s []string) []string { return []string{"x", "y'", "z", "w"} }, []string{"x", "y'", "z", "w"}},
		{"joined, and one of the two edited", []string{"x", "y", "z"},
			func(s []string) []string { return []string{"x+y", "z"} },
			func(s []string) []string { return []string{"x", "y'", "z"} }, []string{"x+y", "y'", "z"}},
		{"joined by both", []string{"x", "y", "z"},
			func(s []string) []string { return []string{"x+y", "z"} },
			func(s []string) []string { return []string{"x+y", "z"} }, []string{"x+y", "z"}},
		{"joined and removed", []string{"x", "y", "z"},
			func(s []string) []string { return []string{"x+y", "z"} },
			func(s []string) []string { return []string{"x", "z"} }, []string{"x+y", "z"}},
		{"no common base", nil,
			func(s []string) []string { return []string{"a"} },
			func(s []string) []string { return []string{"b"} }, []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := replica{name: "base", thread: &domarkx.Thread{}}
			base.edit(func([]string) []string { return tt.base })
			ours, theirs := replica{name: "ours", thread: base.thread}, replica{name: "theirs", thread: base.thread}
			ours.edit(tt.ours)
			theirs.edit(tt.theirs)
			got := texts(domarkx.Merge(ours.thread, theirs.thread))
			if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(tt.want))) {
				t.Errorf("merged to %q, want %q", got, tt.want)
			}
			for _, run := range [][]string{{"a1", "a2"}, {"b1", "b2"}} {
				if i := slices.Index(got, run[0]); i >= 0 && (i+1 == len(got) || got[i+1] != run[1]) {
					t.Errorf("run %q was torn apart in %q", run, got)
				}
			}
		})
	}
}

// TestMergeOfOneRevision checks which of two contents of one revision stays: clones that import a transcript
// may differ in what they know of its messages.
func TestMergeOfOneRevision(t *testing.T) {
	id := domarkx.DeriveID(0, []byte("message"))
	with := func(json, link string) domarkx.Entry {
		return domarkx.Entry{ID: id, Role: domarkx.Assistant, JSON: domarkx.Blob{ID: json}, Link: link}
	}
	for name, c := range map[string]struct{ stays, goes domarkx.Entry }{
		"with a link":      {with("a", "version"), with("a", "")},
		"one of two links": {with("a", "1"), with("a", "2")},
		"another content":  {with("a", ""), with("b", "version")},
	} {
		t.Run(name, func(t *testing.T) {
			one, two := &domarkx.Thread{Live: []domarkx.Entry{c.stays}}, &domarkx.Thread{Live: []domarkx.Entry{c.goes}}
			for _, merged := range []*domarkx.Thread{domarkx.Merge(one, two), domarkx.Merge(two, one)} {
				if diff := cmp.Diff([]domarkx.Entry{c.stays}, merged.Live); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestHeirOfRemovedStays revises a thread that has a message and the one that continues it, as the
// base of an import can. Removing the former message must not remove the moved text.
func TestHeirOfRemovedStays(t *testing.T) {
	before := replica{name: "before", thread: &domarkx.Thread{}}
	before.edit(func([]string) []string { return []string{"x", "y", "z", "w"} })
	moved := replica{name: "moved", thread: before.thread}
	moved.edit(func([]string) []string { return []string{"x", "z", "w", "y"} })
	heir := moved.thread.Live[3]
	for name, c := range map[string]struct {
		live []domarkx.Entry
		next []string
	}{
		"stays":       {append(slices.Clone(before.thread.Live), heir), []string{"x", "z", "w", "y"}},
		"moves again": {slices.Insert(slices.Clone(before.thread.Live), 0, heir), []string{"x", "z", "y", "w"}},
	} {
		t.Run(name, func(t *testing.T) {
			both := replica{name: "both", thread: &domarkx.Thread{Live: c.live}}
			both.edit(func([]string) []string { return c.next })
			for _, with := range []*domarkx.Thread{before.thread, moved.thread, both.thread} {
				if got := texts(domarkx.Merge(both.thread, with)); !slices.Contains(got, "y") {
					t.Errorf("the merge reads %q", got)
				}
			}
		})
	}
}

// TestImportsOfMovedMessagesKeepThem revises threads that have messages of a base and what became of
// them in the session since, in any order, and merges the result with that session, as imports do.
// What the imported document has must be in the result.
func TestImportsOfMovedMessagesKeepThem(t *testing.T) {
	names := []string{"p", "q", "r", "s", "t"}
	order := func(t *rapid.T, label string, of []string) []string {
		return rapid.Permutation(of).Draw(t, label)
	}
	rapid.Check(t, func(t *rapid.T) {
		base := &replica{name: "base", thread: &domarkx.Thread{}}
		base.edit(func([]string) []string { return names })
		session := &replica{name: "session", thread: base.thread}
		for range rapid.IntRange(1, 3).Draw(t, "moves") {
			session.edit(func(s []string) []string { return order(t, "session", s) })
		}

		// The document shares some moved messages with the session: the base gets those, too.
		both := &replica{name: "import", thread: &domarkx.Thread{Live: slices.Clone(base.thread.Live)}}
		has := map[domarkx.ID]bool{}
		for _, e := range base.thread.Live {
			has[e.ID] = true
		}
		for _, e := range session.thread.Live {
			if !has[e.ID] && rapid.Bool().Draw(t, "shared") {
				at := rapid.IntRange(0, len(both.thread.Live)).Draw(t, "at")
				both.thread.Live = slices.Insert(both.thread.Live, at, e)
			}
		}
		document := order(t, "document", names)
		both.edit(func([]string) []string { return document })
		merged := texts(domarkx.Merge(both.thread, session.thread))
		for _, text := range document {
			if !slices.Contains(merged, text) {
				t.Fatalf("%q of the document %q is not in the merge %q with the session %q", text, document, merged, texts(session.thread))
			}
		}
		again := texts(domarkx.Merge(session.thread, both.thread))
		if !slices.Equal(merged, again) {
			t.Fatalf("the merge is %q on one side and %q on the other", merged, again)
		}
	})
}
