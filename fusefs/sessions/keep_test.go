//go:build unix

package sessions_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/fusefs/sessions"
)

func TestIsScratch(t *testing.T) {
	for _, p := range []string{".x", "a/.b/c", "x~", "a/x.md~", "x.swp", "x.tmp", "x.bak", "#x#", "##", "4913", "a/4913", ".x.md.swp", ".#x.md"} {
		if !sessions.IsScratch(p) {
			t.Errorf("%q is not scratch", p)
		}
	}
	for _, p := range []string{"notes.txt", "x.png", "a/b.c", "#x", "x#", "#", "49130", "4913.txt", "tmp", "x.tmp.txt", "~x", "sedAbCdE", "x.md.vsctmp"} {
		if sessions.IsScratch(p) {
			t.Errorf("%q is scratch", p)
		}
	}
}

// TestFilesBesideSessionsSurvive: files outside sessions, except scratch, survive a power cut
// under their last names.
func TestFilesBesideSessionsSurvive(t *testing.T) {
	dir, run := t.TempDir(), 0
	names := []string{"a.txt", "b.png", "c", "d~", ".e", "f.tmp", "s.md"}
	rapid.Check(t, func(rt *rapid.T) {
		run++
		here := fmt.Sprintf("%s/%d", dir, run)
		defer os.RemoveAll(here)
		m := newMachine(t, here)
		defer m.shutDown()
		model := map[string]string{}
		name := func() string { return rapid.SampledFrom(names).Draw(rt, "name") }
		for i := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			a, b := name(), name()
			switch step := rapid.SampledFrom([]string{"save", "save", "rename", "unlink", "exchange", "crash"}).Draw(rt, "step"); {
			case step == "save" && a != "s.md":
				model[a] = fmt.Sprint("content ", i)
				m.save(a, model[a])
			case step == "rename" && a != b && a != "s.md" && model[a] != "":
				if err := m.rename(a, b); err != nil {
					rt.Fatal(err)
				}
				model[b] = model[a]
				delete(model, a)
			case step == "unlink" && model[a] != "" && a != "s.md":
				m.unlink(a)
				delete(model, a)
			case step == "exchange" && a != b && a != "s.md" && b != "s.md" && model[a] != "" && model[b] != "":
				if err := m.tree.Rename(context.Background(), m.tree.Root(), a, m.tree.Root(), b, sessions.Exchange, editor); err != nil {
					rt.Fatal(err)
				}
				model[a], model[b] = model[b], model[a]
			case step == "crash":
				m.crash()
				maps.DeleteFunc(model, func(name, _ string) bool { return sessions.IsScratch(name) })
			}
			for _, name := range names {
				want := model[name]
				if want == "" {
					want = "-"
				}
				if got := m.read(name); got != want {
					rt.Fatalf("%s is %q, want %q", name, got, want)
				}
			}
			var want []string
			for _, name := range slices.Sorted(maps.Keys(model)) {
				if !sessions.IsScratch(name) && !strings.HasSuffix(name, ".md") {
					want = append(want, name)
				}
			}
			if got := m.tree.Drafts(); !slices.Equal(got, want) {
				rt.Fatalf("drafts are %q, want %q", got, want)
			}
		}
	})
}

// TestBackFromScratch: a file that gets a scratch name and then its own name again, as by editors that restore
// their backup, survives a power cut.
func TestBackFromScratch(t *testing.T) {
	m := newMachine(t, t.TempDir())
	defer m.shutDown()
	m.save("a.txt", "content")
	for _, names := range [][2]string{{"a.txt", "a.txt~"}, {"a.txt~", "a.txt"}} {
		if err := m.rename(names[0], names[1]); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.tree.Drafts(); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("drafts are %q", got)
	}
	m.crash()
	if got := m.read("a.txt"); got != "content" {
		t.Errorf("after a power cut: %q", got)
	}
}

// TestADraftOfACarriedFileEnds: a session is renamed to another file, which is written and removed.
func TestADraftOfACarriedFileEnds(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("a.md", "a")
		if err := m.rename("a.md", "c.txt"); err != nil {
			m.Fatal(err)
		}
		m.save("c.txt", "c")
		m.unlink("c.txt")
		m.shutDown()
		m.boot()
		if a, c := m.read("a.md"), m.read("c.txt"); a != "-" || c != "-" {
			m.Errorf("a.md has %q and c.txt has %q after they were removed", a, c)
		}
	})
}

// TestRenameReplacesACarriedSession: a session takes the name of one that was renamed to another file, right after its
// first save or later. Both texts are there afterwards.
func TestRenameReplacesACarriedSession(t *testing.T) {
	for after, want := range map[time.Duration]string{0: "a", time.Hour: "b|a"} {
		timed(t, func(m *machine) {
			m.save("a.md", "a")
			m.at(time.Hour, "a", "a")
			m.save("b.md", "b")
			time.Sleep(after)
			for _, names := range [][2]string{{"b.md", "b.md~"}, {"b.md~", "b.txt"}, {"a.md", "b.md"}, {"b.txt", "c.txt"}} {
				if err := m.rename(names[0], names[1]); err != nil {
					m.Fatal(err)
				}
			}
			m.crash()
			if a, b, c := m.read("a.md"), m.read("b.md"), m.read("c.txt"); a != "-" || b != "a" || c != "b" {
				m.Errorf("a.md has %q, b.md %q and c.txt %q", a, b, c)
			}
			m.at(0, "b", want)
		})
	}
}
