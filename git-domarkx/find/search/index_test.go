package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
	"github.com/domarkx/domarkx/gitstore"
)

func TestIndexFollowsTheSessions(t *testing.T) {
	r := newRepository(t)
	r.save("a", "the first kettle", "an answer")
	r.finds(words("kettle"), "a#0")
	r.save("a", "the first kettle", "an answer", "a second kettle")
	r.save("b", "the first kettle", "something else")
	r.finds(words("kettle"), "a#0", "a#2", "b#0")
	r.finds(fixed("kettle"), "a#0", "a#2", "b#0")
	r.save("a", "the first teapot", "an answer", "a second kettle")
	r.finds(words("kettle"), "a#2", "b#0")
	r.finds(words("teapot"), "a#0")
	r.finds(search.Query{Text: "kettle", History: true}, "a#2", "a@…#0", "b#0")
	r.finds(search.Query{Text: "kettle", History: true, Sessions: map[string]bool{"a": true}}, "a#2", "a@…#0")
	r.finds(search.Query{Text: "kettle", Sessions: map[string]bool{"b": true}}, "b#0")
	r.finds(search.Query{Text: "kettle", Role: domarkx.Assistant})
	r.finds(search.Query{Text: "kettle", Until: time.Unix(0, 0)})
	r.save("a", "short")
	r.finds(words("kettle"), "b#0")
	r.remove("b")
	r.finds(words("kettle"))
	r.finds(words("short"), "a#0")
	r.finds(words("else"))
}

// TestMessagesAreIndexedOnce counts the messages that each search indexes.
func TestMessagesAreIndexedOnce(t *testing.T) {
	r := newRepository(t)
	count := func(want int, what string) {
		t.Helper()
		n := 0
		if _, err := search.Find(t.Context(), r.store, words("kettle"), search.Options{Progress: func(int) { n++ }}); err != nil || n != want {
			t.Errorf("%s: %d messages were indexed, expected %d, %v", what, n, want, err)
		}
	}
	r.save("a", "the first kettle", "an answer")
	count(2, "a new session")
	count(0, "the same again")
	r.save("a", "the first kettle", "an answer", "a second kettle")
	count(1, "a message more")
	tip, err := r.store.Tip(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.Update(t.Context(), "fork", func(tx *gitstore.Tx) error { return tx.Set(t.Context(), "b", tip.ID) }); err != nil {
		t.Fatal(err)
	}
	count(0, "a fork")
	r.finds(words("kettle"), "a#0", "a#2", "b#0", "b#2")
	r.remove("a")
	count(0, "a fork alone")
	r.finds(words("kettle"), "b#0", "b#2")
}

func TestSameMessageTwice(t *testing.T) {
	r := newRepository(t)
	var messages []string
	for i := range 40 {
		messages = append(messages, "yes indeed", fmt.Sprintf("answer %d", i))
	}
	r.save("a", messages...)
	if got := r.find(words("indeed")); len(got) != 40 {
		t.Errorf("found %d of 40: %q", len(got), got)
	}
	if got := r.find(fixed("yes ind")); len(got) != 40 {
		t.Errorf("found %d of 40: %q", len(got), got)
	}
}

func TestForgetLeavesNothing(t *testing.T) {
	r := newRepository(t)
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("common words of message %d with wombat%d", i, i))
	}
	r.save("keep", many...)
	r.save("rest", "a shared kettle", "the answer")
	r.save("secret", "a shared kettle", "the password is xyzzyplugh and getXyzzyPlugh", "```tool-call\n{\"resource\": \"shell\", \"tool\": \"plughtool\", \"arguments\": {\"path\": \"dir/plughfile\"}}\n```")
	r.finds(words("xyzzyplugh"), "secret#1")
	if !r.holds("xyzzyplugh") || !r.holds("plughtool") || !r.holds("plughfile") {
		t.Fatal("the text is not in the index, so this test shows nothing")
	}
	r.save("edited", "about xyzzyquux")
	r.finds(words("xyzzyquux"), "edited#0")
	r.save("edited", "about nothing")
	r.finds(search.Query{Text: "xyzzyquux", History: true}, "edited@…#0")
	r.remove("secret")
	r.remove("edited")
	if err := search.Forget(t.Context(), r.store); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"xyzzy", "plugh", "quux"} {
		if r.holds(text) {
			t.Errorf("%q is still in the index", text)
		}
	}
	r.finds(words("kettle"), "rest#0")
	r.finds(words("wombat17"), "keep#17")
	r.finds(fixed("wombat299"), "keep#299")
	r.save("secret", "xyzzyplugh again")
	r.finds(words("xyzzyplugh"), "secret#0")
}

// TestForgetLeavesNoCopies removes some of many sessions, whose paths SQLite has moved between pages.
func TestForgetLeavesNoCopies(t *testing.T) {
	r := newRepository(t)
	random := rand.New(rand.NewPCG(7, 8))
	paths, calls := make([][]string, 20), 400
	if testing.Short() {
		calls = 50
	}
	for s := range paths {
		var text strings.Builder
		for range calls {
			p := strconv.FormatUint(random.Uint64(), 36)
			paths[s] = append(paths[s], p)
			fmt.Fprintf(&text, "```tool-call\n{\"resource\": \"r\", \"tool\": \"t\", \"arguments\": {\"path\": \"%s\"}}\n```\n\n", p)
		}
		r.save(fmt.Sprint("s", s), "go", text.String())
		r.find(words("go"))
	}
	for s := 5; s < 15; s++ {
		r.remove(fmt.Sprint("s", s))
		if err := search.Forget(t.Context(), r.store); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(r.index())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths[s] {
			if bytes.Contains(data, []byte(p[4:])) {
				t.Errorf("%s of session %d is still in the index", p, s)
			}
		}
	}
	if got := r.find(words("go")); len(got) != 10 {
		t.Errorf("found %d", len(got))
	}
}

// TestStoppedForget stops an update after it has indexed the new text instead of a removed text.
func TestStoppedForget(t *testing.T) {
	r := newRepository(t)
	r.save("a", "about xyzzyplugh")
	r.finds(words("xyzzyplugh"), "a#0")
	r.remove("a")
	r.save("a", "about nothing")
	r.save("b", strings.Fields("the first sixteen messages fill a leaf of a session and those that follow are in its second one")...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	x, err := search.Open(ctx, r.store, search.Options{Batch: 1, Progress: func(n int) {
		if n == 1+16+1 { // in the second leaf of b
			stop()
		}
	}})
	if err == nil {
		x.Close()
		t.Fatal("the update was not stopped")
	}
	r.finds(words("nothing"), "a#0")
	if r.holds("plugh") {
		t.Error("the removed text is still in the index")
	}
}

func TestForgetMakesNoIndex(t *testing.T) {
	r := newRepository(t)
	r.save("a", "text")
	if err := search.Forget(t.Context(), r.store); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.index()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an index was made: %v", err)
	}
}

// TestStrangeFiles checks that anything in place of the index leads to the right answer.
func TestStrangeFiles(t *testing.T) {
	r := newRepository(t)
	var messages []string
	for i := range 200 {
		messages = append(messages, strings.Repeat(fmt.Sprintf("message %d is about the kettle and word%d; ", i, i), 20))
	}
	r.save("a", messages...)
	r.finds(words("word77"), "a#77")
	whole, err := os.ReadFile(r.index())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	check := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(r.index(), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := r.find(words("word77")); !slices.Equal(got, []string{"a#77"}) {
			t.Errorf("%s: words found %q", what, got)
		}
		if got := r.find(fixed("word199;")); !slices.Equal(got, []string{"a#199"}) {
			t.Errorf("%s: -F found %q", what, got)
		}
	}
	check("empty", nil)
	check("text", []byte("not an index\n"))
	check("zeros", make([]byte, 1<<16))
	for range 20 {
		n := random.IntN(len(whole))
		check(fmt.Sprintf("the first %d bytes", n), whole[:n])
	}
	for _, page := range []int{1, 3, len(whole) / 8192 / 2, len(whole)/8192 - 2} {
		damaged := slices.Clone(whole)
		for i := range 8192 {
			damaged[page*8192+i] = byte(random.Uint32())
		}
		check(fmt.Sprintf("page %d is noise", page), damaged)
	}
	newer := slices.Clone(whole)
	newer[63]++ // the last byte of user_version
	check("another version", newer)
	if err := os.Remove(r.index()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), r.index()); err != nil {
		t.Fatal(err)
	}
	r.finds(words("word77"), "a#77")
	if err := os.Remove(r.index()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(r.index(), "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.finds(words("word77"), "a#77")
}

// TestStoppedUpdates stops updates after a random number of messages, with a transaction for each
// few, and checks that the next search finds everything once.
func TestStoppedUpdates(t *testing.T) {
	r := newRepository(t)
	random := rand.New(rand.NewPCG(3, 4))
	var messages []string
	total := 0
	for round := range 12 {
		for range 60 {
			messages = append(messages, fmt.Sprintf("kettle number%d", total))
			total++
		}
		r.save("a", messages...)
		if round%3 == 2 {
			messages[random.IntN(len(messages))] += " changed"
			r.save("a", messages...)
		}
		ctx, stop := context.WithCancel(t.Context())
		after := 1 + random.IntN(60)
		x, err := search.Open(ctx, r.store, search.Options{Batch: 2000, History: round%2 == 1, Progress: func(n int) {
			if n == after {
				stop()
			}
		}})
		if err == nil {
			x.Close()
			t.Fatalf("round %d was not stopped", round)
		}
		stop()
		if round%2 == 0 {
			continue // the next round begins with what the stopped one left
		}
		if got := r.find(words("kettle")); len(got) != total {
			t.Fatalf("round %d: found %d of %d", round, len(got), total)
		}
		if got := r.find(fixed("kettle")); len(got) != total {
			t.Fatalf("round %d: -F found %d of %d", round, len(got), total)
		}
		r.find(search.Query{Text: "kettle", History: true})
	}
}

// TestConcurrentSearches searches through several open indexes, as several processes would, while sessions are added.
func TestConcurrentSearches(t *testing.T) {
	r := newRepository(t)
	r.save("first", "the kettle")
	sessions := 30
	if testing.Short() {
		sessions = 10
	}
	var running sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		other := r.open()
		running.Go(func() {
			last := 0
			for {
				stopping := false
				select {
				case <-done:
					stopping = true
				default:
				}
				if err := other.store.Refresh(); err != nil {
					t.Error(err)
					return
				}
				hits, err := search.Find(t.Context(), other.store, words("kettle"), search.Options{})
				if err != nil || len(hits) < last {
					t.Errorf("found %d after %d, %v", len(hits), last, err)
					return
				}
				last = len(hits)
				if stopping {
					if last != sessions+1 {
						t.Errorf("found %d of %d", last, sessions+1)
					}
					return
				}
			}
		})
	}
	for i := range sessions {
		r.save(fmt.Sprintf("s%d", i), "another kettle", fmt.Sprintf("answer %d", i))
	}
	close(done)
	running.Wait()
}

// TestTemporaryIndexHasNoName searches a repository whose index cannot be written.
func TestTemporaryIndexHasNoName(t *testing.T) {
	r := newRepository(t)
	r.save("a", "the kettle")
	if err := os.Mkdir(filepath.Join(r.store.StateDir(), "search.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for hits, err := range r.each(words("kettle")) {
		if left, _ := os.ReadDir(dir); err != nil || len(hits) != 1 || len(left) > 0 {
			t.Errorf("%v, %v, files: %v", hits, err, left)
		}
	}
	r.finds(search.Query{Text: "kettle", Kind: search.Fixed}, "a#0")
}

func TestSearchIsInterrupted(t *testing.T) {
	r := newRepository(t)
	r.save("a", "text")
	ctx, stop := context.WithTimeout(t.Context(), -time.Second)
	defer stop()
	if _, err := search.Find(ctx, r.store, words("text"), search.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	r.finds(words("text"), "a#0")
}

// TestOldHitAmongMany searches for the oldest of more messages than are ranked.
func TestOldHitAmongMany(t *testing.T) {
	r := newRepository(t)
	r.save("a", "a kettle")
	many := make([]string, 20100)
	for i := range many {
		many[i] = fmt.Sprintf("kettle %d", i)
	}
	r.save("b", many...)
	r.finds(search.Query{Text: "kettle", Sessions: map[string]bool{"a": true}, Limit: 1}, "a#0")
	hits, err := search.Find(t.Context(), r.store, search.Query{Text: "kettle", Limit: 3}, search.Options{})
	if err != nil || len(hits) != 3 || hits[0].Session != "b" {
		t.Errorf("%+v, %v", hits, err)
	}
}

func TestBestFirst(t *testing.T) {
	r := newRepository(t)
	r.save("a", "kettle "+strings.Repeat("and many other words that say nothing ", 50), "the kettle", "nothing")
	hits, err := search.Find(t.Context(), r.store, search.Query{Text: "kettle", Limit: 1}, search.Options{})
	if err != nil || len(hits) != 1 || hits[0].K != 1 {
		t.Errorf("%+v, %v", hits, err)
	}
	hits, err = search.Find(t.Context(), r.store, search.Query{Text: "kettle"}, search.Options{})
	if err != nil || len(hits) != 2 || hits[0].K != 1 || hits[0].Snippet != "the kettle" || len(hits[0].Matches) != 1 || hits[0].Matches[0] != [2]int{4, 10} {
		t.Errorf("%+v, %v", hits, err)
	}
}
