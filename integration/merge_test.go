package integration_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMergeConverges changes sessions in three clones at random and exchanges them over a
// bare remote. In the end all clones must have the same commit, and no text may be lost
// that nobody removed.
func TestMergeConverges(t *testing.T) {
	t.Parallel()
	cases := 1 // package transfer does the same in one process, often
	if soaking() {
		cases = 40
	}
	for n := range cases {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			random := newRandom(t)
			for range n { // different numbers for each case, even with the same seed
				random = rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
			}
			converge(t, random)
		})
	}
}

// A crowd is three clones and a record of the texts written in them.
type crowd struct {
	t       *testing.T
	random  *rand.Rand
	clones  []*site
	origin  *site
	source  string            // the document that clone 0 imports repeatedly
	written map[string]bool   // every text; true if it was removed or rewritten somewhere
	moved   map[string]bool   // texts that may have been moved
	former  map[string]string // the text that a rewritten one replaced
	number  int
}

func converge(t *testing.T, random *rand.Rand) {
	root := newSite(t)
	root.git("init", "-q", "--bare", "origin.git")
	c := &crowd{t: t, random: random, origin: root.at("origin.git"), written: map[string]bool{}, moved: map[string]bool{}, former: map[string]string{}}
	for n := range 3 {
		name := fmt.Sprintf("clone%d", n)
		root.git("clone", "-q", "origin.git", name)
		c.clones = append(c.clones, root.at(name).with("GIT_AUTHOR_NAME="+name, "GIT_COMMITTER_NAME="+name, "TZ="+[3]string{"UTC", "Asia/Tokyo", "America/Lima"}[n]))
	}
	c.source = "---\ntitle: crowd\n---\n"
	for i := range 6 {
		c.source += messageText([2]string{"user", "assistant"}[i%2], c.text("imported"))
	}
	c.importSource()
	c.clones[0].domarkx("push", "origin", "--all")
	steps := 30
	if soaking() {
		steps = 300
	}
	for range steps {
		c.step()
	}
	c.settle()
	c.check()
}

// text returns a new unique text.
func (c *crowd) text(what string) string {
	c.number++
	text := fmt.Sprintf("%s-%d.", what, c.number)
	c.written[text] = false
	return text
}

func messageText(role, text string) string { return "\n## " + role + "\n\n" + text + "\n" }

func (c *crowd) importSource() {
	c.clones[0].write("s.md", c.source)
	c.clones[0].domarkx("import", "s.md")
}

func (c *crowd) step() {
	n := c.random.IntN(len(c.clones))
	clone := c.clones[n]
	if clone.tip("s") == "" {
		clone.pull("origin")
	}
	switch kind := c.random.IntN(20); {
	case kind < 5:
		clone.domarkx("append", "--new", "--role", [2]string{"user", "assistant"}[c.random.IntN(2)], "-m", c.text("appended"), "s")
	case kind < 10:
		shown := clone.shown("s")[0]
		clone.write(".git/edited.md", c.change(shown))
		clone.with("GIT_EDITOR=cp "+clone.path(".git/edited.md")).domarkx("edit", "s")
	case kind < 12:
		c.source = c.change(c.source)
		c.importSource()
	case kind < 13:
		if texts := clone.texts("s"); len(texts) > 2 {
			k := len(texts) - 1 - c.random.IntN(2)
			clone.domarkx("rewind", fmt.Sprintf("s#%d", k))
			for _, text := range texts[k+1:] {
				c.gone(text)
			}
		}
	case kind < 17:
		clone.pull("origin")
	default:
		if o := clone.try("", "git-domarkx", "push", "origin", "s"); o.code > 1 {
			c.t.Fatalf("%s", o)
		}
	}
}

// gone records that a text was removed or rewritten. A merge may bring it back.
func (c *crowd) gone(text string) {
	text = strings.TrimSpace(text)
	if _, ok := c.written[text]; !ok {
		c.t.Fatalf("a message reads %q, which nobody wrote", text)
	}
	c.written[text] = true
}

// change edits a document as a person does: it rewrites, removes, moves or inserts
// messages.
func (c *crowd) change(document string) string {
	head, rest, _ := strings.Cut(document, "\n## ")
	var messages []string // each starts with its role
	if rest != "" {
		messages = strings.Split(rest, "\n## ")
	}
	for range 1 + c.random.IntN(2) {
		role := [2]string{"user", "assistant"}[c.random.IntN(2)]
		kind := c.random.IntN(5)
		if len(messages) < 2 {
			kind = 4
		}
		at := c.random.IntN(len(messages) + 1)
		k := min(at, len(messages)-1)
		switch kind {
		case 0, 1:
			c.gone(textOf(messages[k]))
			role, _, _ = strings.Cut(messages[k], "\n")
			former := strings.TrimSpace(textOf(messages[k]))
			text := c.text("rewritten")
			c.former[text] = former
			messages[k] = role + "\n\n" + text + "\n"
		case 2:
			c.gone(textOf(messages[k]))
			messages = slices.Delete(messages, k, k+1)
		case 3:
			moved := messages[k]
			messages = slices.Delete(messages, k, k+1)
			to := c.random.IntN(len(messages) + 1)
			messages = slices.Insert(messages, to, moved)
			// It is ambiguous which messages moved: one down, or the others up.
			for _, m := range messages[min(k, to) : max(k, to)+1] {
				c.moved[strings.TrimSpace(textOf(m))] = true
			}
		case 4:
			messages = slices.Insert(messages, at, role+"\n\n"+c.text("inserted")+"\n")
		}
	}
	for i, m := range messages {
		messages[i] = strings.TrimRight(m, "\n") + "\n"
	}
	return strings.TrimRight(head, "\n") + "\n\n## " + strings.Join(messages, "\n## ")
}

// textOf returns the text of a message without its heading and without the metadata that
// marks a conflict.
func textOf(message string) string {
	_, text, _ := strings.Cut(message, "\n")
	if marked, ok := strings.CutPrefix(strings.TrimSpace(text), "```msg-metadata\n"); ok {
		_, text, _ = strings.Cut(marked, "\n```\n")
	}
	return text
}

// settle exchanges sessions until no clone changes any more.
func (c *crowd) settle() {
	for range 8 {
		tips := c.tips()
		for _, i := range c.random.Perm(len(c.clones)) {
			c.clones[i].pull("origin")
			c.clones[i].domarkx("push", "origin")
		}
		if now := c.tips(); len(now) == 1 && maps.Equal(now, tips) {
			return
		}
	}
	c.t.Errorf("after 8 rounds the clones are still at %v", slices.Collect(maps.Keys(c.tips())))
}

func (c *crowd) tips() map[string]bool {
	tips := map[string]bool{}
	for _, clone := range c.clones {
		tips[clone.tip("s")] = true
	}
	return tips
}

func (c *crowd) check() {
	shown := c.clones[0].domarkx("show", "s")
	for _, clone := range c.clones[1:] {
		if other := clone.shown("s")[0]; other != shown {
			c.t.Errorf("the clones show %q and %q", shown, other)
		}
	}
	var texts []string
	for _, text := range c.clones[0].texts("s") {
		texts = append(texts, strings.TrimSpace(text))
	}
	for text, gone := range c.written {
		// A text can appear twice if both sides moved it, one moved it and the other rewrote it,
		// or each settled its conflict with another text.
		if n := count(texts, text); n == 0 && !gone || n > 1 && !gone && !c.mayAppearTwice(text) {
			c.t.Errorf("%q is %d times in the session; removed or rewritten somewhere: %v", text, n, gone)
		}
	}
	for _, text := range texts {
		if _, ok := c.written[text]; !ok {
			c.t.Errorf("a message reads %q, which nobody wrote", text)
		}
	}
	for _, clone := range append(c.clones, c.origin) {
		clone.intact(clone.dir)
	}
}

// mayAppearTwice reports whether a text, or one that it replaced, may have been moved in some clone
// or was one of several that replaced the same text.
func (c *crowd) mayAppearTwice(text string) bool {
	replaced := map[string]int{}
	for _, former := range c.former {
		replaced[former]++
	}
	for ; text != ""; text = c.former[text] {
		if c.moved[text] || replaced[c.former[text]] > 1 {
			return true
		}
	}
	return false
}

func count(texts []string, text string) (n int) {
	for _, t := range texts {
		if t == text {
			n++
		}
	}
	return n
}

// clones returns the sites of the clones a and b.
func (s *site) clones() (a, b *site) {
	return s.at("a").with("GIT_AUTHOR_NAME=Ann"), s.at("b").with("GIT_AUTHOR_NAME=Bob", "GIT_COMMITTER_EMAIL=bob@example.org", "TZ=Asia/Tokyo", "LC_ALL=C")
}

// pair creates two clones that both have the session s and have each other as a remote.
func pair(t *testing.T, messages int) *site {
	t.Helper()
	root := newSite(t)
	root.git("init", "-q", "a")
	root.git("init", "-q", "b")
	a, b := root.clones()
	a.git("remote", "add", "other", "../b")
	b.git("remote", "add", "other", "../a")
	b.git("config", "commit.gpgSign", "true") // a merge must not be signed even so
	a.write("s.md", document("s", messages))
	a.domarkx("import", "s.md")
	b.pull("other")
	return root
}

// rewrite changes a session with edit.
func (s *site) rewrite(session string, change func(string) string) {
	s.tb.Helper()
	s.write(".git/rewritten.md", change(s.shown(session)[0]))
	s.with("GIT_EDITOR=cp "+s.path(".git/rewritten.md")).domarkx("edit", session)
}

// TestMergeIsTheSameOnBothSides merges the same two changes independently in both clones.
// The resulting commits must be identical.
func TestMergeIsTheSameOnBothSides(t *testing.T) {
	t.Parallel()
	replace := func(old, new string) func(*site) {
		return func(s *site) {
			s.rewrite("s", func(doc string) string { return strings.Replace(doc, old, new, 1) })
		}
	}
	remove := func(k int) func(*site) {
		return func(s *site) {
			s.rewrite("s", func(doc string) string {
				parts := strings.SplitAfter(doc, "lazy dog.\n")
				return strings.Join(slices.Delete(parts, k, k+1), "")
			})
		}
	}
	both := pair(t, 6)
	add := func(text string) func(*site) {
		return func(s *site) { s.domarkx("append", "--new", "-m", text, "s") }
	}
	for _, test := range []struct {
		name     string
		a, b     func(*site)
		want     []string // in this order
		not      []string
		conflict bool
	}{
		{"both append", add("by Ann"), add("by Bob"), []string{"message 5", "by"}, nil, false},
		{"edit and append", replace("message 2:", "message two:"), add("by Bob"), []string{"message 1", "message two", "message 3", "by Bob"}, []string{"message 2"}, false},
		{"both edit different", replace("message 2:", "message two:"), replace("message 4:", "message four:"),
			[]string{"message two", "message 3", "message four"}, []string{"message 2", "message 4"}, false},
		{"both edit the same", replace("message 2:", "Ann's two:"), replace("message 2:", "Bob's two:"), []string{"message 1", "two:", "message 3"}, nil, true},
		{"both edit alike", replace("message 2:", "message two:"), replace("message 2:", "message two:"), []string{"message 1", "message two", "message 3"}, []string{"message 2"}, false},
		{"edit and delete", replace("message 2:", "message two:"), remove(2), []string{"message 1", "message two", "message 3"}, nil, false},
		{"delete and append", remove(2), add("by Bob"), []string{"message 1", "message 3", "by Bob"}, []string{"message 2"}, false},
		{"both delete the same", remove(2), remove(2), []string{"message 1", "message 3"}, []string{"message 2"}, false},
		{"rewind and append", func(s *site) { s.domarkx("rewind", "s#1") }, add("by Bob"), []string{"message 1", "by Bob"}, []string{"message 3"}, false},
		{"titles", replace("title: s", "title: Ann's"), replace("title: s", "title: Bob's"), []string{"message 0"}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, b := both.under(t).copied().clones()
			test.a(a)
			test.b(b)
			before := a.tip("s")
			a.pull("other")
			merged := a.tip("s")
			a.git("update-ref", "refs/domarkx/sessions/s", before) // so that b does not see the merge of a
			b.pull("other")
			if got := b.tip("s"); got != merged {
				t.Errorf("one side merged to %s:\n%s\nthe other to %s:\n%s", merged, a.git("cat-file", "-p", merged), got, b.git("cat-file", "-p", got))
			}
			shown := b.shown("s")[0]
			at := 0
			for _, want := range test.want {
				i := strings.Index(shown[at:], want)
				if i < 0 {
					t.Fatalf("%q is missing, or not in the order of %q, in:\n%s", want, test.want, shown)
				}
				at += i
			}
			for _, not := range test.not {
				if strings.Contains(shown, not) {
					t.Errorf("%q is still in:\n%s", not, shown)
				}
			}
			conflicts := conflictsOf(t, b.domarkx("show", "--format", "json", "s"))
			if test.conflict && conflicts != 2 || !test.conflict && conflicts != 0 {
				t.Errorf("%d messages are marked as conflicts", conflicts)
			}
			if test.conflict && (!strings.Contains(shown, "Ann's two") || !strings.Contains(shown, "Bob's two")) {
				t.Errorf("a text is lost:\n%s", shown)
			}
			b.intact()
		})
	}
}

func conflictsOf(t *testing.T, document string) (n int) {
	t.Helper()
	var d struct {
		Conversation []struct {
			Metadata map[string]any `json:"message_metadata"`
		}
	}
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Conversation {
		if m.Metadata["conflict"] != nil {
			n++
		}
	}
	return n
}

// TestMergeRemoved removes a session on one side.
func TestMergeRemoved(t *testing.T) {
	t.Parallel()
	root := newSite(t)
	root.git("init", "-q", "--bare", "origin.git")
	root.git("clone", "-q", "origin.git", "a")
	root.git("clone", "-q", "origin.git", "b")
	a, b := root.at("a"), root.at("b")
	for _, name := range []string{"unchanged", "changed", "local"} {
		a.domarkx("append", "--new", "-m", "text of "+name, name)
	}
	a.domarkx("push", "origin", "unchanged", "changed")
	b.pull("origin")
	b.domarkx("append", "--new", "-m", "changed by b", "changed")
	a.domarkx("rm", "unchanged")
	a.domarkx("rm", "changed")
	a.domarkx("push", "origin")
	if got := root.at("origin.git").git("for-each-ref", "refs/domarkx/"); got != "" {
		t.Errorf("the remote still has %q", got)
	}
	b.pull("origin")
	if got := b.tip("unchanged"); got != "" {
		t.Errorf("what was removed there and is unchanged here is still at %s", got)
	}
	if got := b.domarkx("show", "changed"); !strings.Contains(got, "changed by b") {
		t.Errorf("what was removed there and changed here reads %q", got)
	}
	b.domarkx("restore", "unchanged")
	if got := b.domarkx("show", "unchanged"); !strings.Contains(got, "text of unchanged") {
		t.Errorf("what was restored reads %q", got)
	}
	if a.tip("local") == "" {
		t.Error("a session that was never pushed is gone")
	}
	a.sound()
	b.sound()
}

// TestMergeLong merges sessions so long that comparing every pair of messages would take
// too long.
func TestMergeLong(t *testing.T) {
	t.Parallel()
	a, b := pair(t, 20000).clones()
	a.domarkx("append", "--new", "-m", "by Ann", "s")
	b.domarkx("append", "--new", "-m", "by Bob", "s")
	b.pull("other")
	a.pull("other")
	if a.tip("s") != b.tip("s") {
		t.Errorf("the clones are at %s and %s", a.tip("s"), b.tip("s"))
	}
	if n := len(b.texts("s")); n != 20002 {
		t.Errorf("the merged session has %d messages", n)
	}
}
