package integration_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFaultKillAppend kills appends. Every acknowledged message must exist exactly once,
// and the others at most once.
func TestFaultKillAppend(t *testing.T) {
	t.Parallel()
	r, random := newRepository(t), newRandom(t)
	takes := typical(nil, func() { r.domarkx("append", "--new", "-m", "to begin with", "s") })
	var acknowledged []string
	kills := 0
	for i := range rounds(t, 60) {
		text := fmt.Sprintf("text %d.", i)
		out, finished := r.killed(moment(random, takes), i%killWays, "append", "--new", "-m", text, "s")
		if out != "" {
			acknowledged = append(acknowledged, text)
			if want := "s\t" + r.tip("s") + "\n"; out != want {
				t.Fatalf("round %d: append printed %q, the session is at %q", i, out, want)
			}
		}
		if !finished {
			kills++
		}
		shown := r.shown("s")[0]
		for _, text := range acknowledged {
			if n := strings.Count(shown, text); n != 1 {
				t.Fatalf("round %d: the acknowledged %q is %d times in the session", i, text, n)
			}
		}
		if n := strings.Count(shown, text); n > 1 {
			t.Fatalf("round %d: %q is %d times in the session", i, text, n)
		}
		r.intact("round", i)
	}
	r.domarkx("append", "--new", "-m", "at the end", "s")
	r.sound("at the end")
	r.noScraps()
	t.Logf("%d kills, %d acknowledged", kills, len(acknowledged))
}

// TestFaultKillNew kills appends that create a session, and imports of one document.
func TestFaultKillNew(t *testing.T) {
	t.Parallel()
	r, random := newRepository(t), newRandom(t)
	number := 0
	takes := typical(nil, func() { number++; r.domarkx("append", "--new", "-m", "text", fmt.Sprintf("typical%d", number)) })
	for i := range rounds(t, 20) {
		name := fmt.Sprintf("s%d", i)
		out, _ := r.killed(moment(random, takes), i/2%killWays, "append", "--new", "-m", "text", name)
		if tip := r.tip(name); out != "" && out != name+"\t"+tip+"\n" {
			t.Fatalf("round %d: append printed %q, the session is at %q", i, out, tip)
		}
		r.domarkx("append", "--new", "-m", "once more", name)
		r.intact("round", i)
		noLocks(t, r.path(".git"), "round", i)
	}
	r.sound("at the end")
	r.noScraps()
}

// TestFaultKillImport kills imports of a directory. Every session must be completely old
// or completely new, and the printed ones must be new.
func TestFaultKillImport(t *testing.T) {
	t.Parallel()
	const documents = 25
	r, random := newRepository(t), newRandom(t)
	version := 0
	was := make(map[string]string)
	write := func() {
		version++
		for d := range documents {
			r.write(fmt.Sprintf("in/d%d.md", d), document(fmt.Sprintf("d%d v%d", d, version), 4+version%3))
		}
	}
	takes := typical(write, func() { r.domarkx("import", "in") })
	var names []string
	for d := range documents {
		names = append(names, fmt.Sprintf("d%d", d))
		was[names[d]] = r.read("in/" + names[d] + ".md")
	}
	for i := range rounds(t, 40) {
		write()
		out, finished := r.killed(moment(random, takes), i%killWays, "import", "in")
		if lines := strings.Count(out, "\n"); finished && lines != documents {
			t.Fatalf("round %d: import printed %d lines: %q", i, lines, out)
		}
		for d, shown := range r.shown(names...) {
			name := names[d]
			want := r.read("in/" + name + ".md")
			switch acknowledged := slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return strings.HasPrefix(line, name+"\t") }); {
			case shown == want:
				was[name] = want
			case acknowledged:
				t.Fatalf("round %d: the acknowledged import of %s is not there: %q", i, name, shown)
			case shown != was[name]:
				t.Fatalf("round %d: %s is neither what it was nor what is new: %q", i, name, shown)
			}
		}
		r.intact("round", i)
		if i%4 == 0 {
			r.domarkx("import", "in")
			noLocks(t, r.path(".git"), "round", i)
			for _, name := range names {
				was[name] = r.read("in/" + name + ".md")
			}
		}
	}
	r.domarkx("import", "in")
	r.sound("at the end")
	r.noScraps()
}

// TestFaultKillEdit kills edits, including while the editor runs.
func TestFaultKillEdit(t *testing.T) {
	t.Parallel()
	r, random := newRepository(t), newRandom(t)
	n := 0
	text := func() string { n++; return document(fmt.Sprintf("edit %d", n), 5) }
	edit := r.with("GIT_EDITOR=cp " + r.path("new.md"))
	r.domarkx("append", "--new", "-m", "to begin with", "s")
	takes := typical(func() { r.write("new.md", text()) }, func() { edit.domarkx("edit", "s") })
	was := r.read("new.md")
	for i := range rounds(t, 30) {
		want := text()
		r.write("new.md", want)
		out, _ := edit.killed(moment(random, takes), i%killWays, "edit", "s")
		switch shown := r.shown("s")[0]; {
		case shown == want:
			was = want
		case out != "":
			t.Fatalf("round %d: the acknowledged edit is not there: %q", i, shown)
		case shown != was:
			t.Fatalf("round %d: the session is neither what it was nor what is new: %q", i, shown)
		}
		r.intact("round", i)
	}
	r.write("new.md", text())
	edit.domarkx("edit", "s")
	if shown := r.domarkx("show", "s"); shown != r.read("new.md") {
		t.Errorf("after the kills an edit gives %q", shown)
	}
	r.sound("at the end")
	noLocks(t, r.path(".git"), "at the end")
}

// TestFaultKillMove kills the commands that change several references at once. The
// session must always have exactly one name or be in the trash.
func TestFaultKillMove(t *testing.T) {
	t.Parallel()
	r, random := newRepository(t), newRandom(t)
	r.write("a.md", document("a", 3))
	r.domarkx("import", "a.md")
	want := r.read("a.md")
	other := map[string]string{"a": "b/c", "b/c": "a"}
	at := "a"
	names := func() []string {
		var names []string
		for line := range strings.Lines(r.domarkx("list")) {
			names = append(names, strings.SplitN(line, "\t", 2)[0])
		}
		return names
	}
	takes := typical(nil, func() { r.domarkx("rename", at, other[at]); at = other[at] })
	for i := range rounds(t, 60) { // all three commands in a usual run
		switch i / killWays % 3 {
		case 0:
			to := other[at]
			out, _ := r.killed(moment(random, takes), i%killWays, "rename", at, to)
			if got := names(); len(got) != 1 || got[0] != at && got[0] != to || out != "" && got[0] != to {
				t.Fatalf("round %d: rename %s %s printed %q; the sessions are %q", i, at, to, out, got)
			}
			at = names()[0]
		case 1:
			out, _ := r.killed(moment(random, takes), i%killWays, "rm", at)
			if got := names(); len(got) > 0 && out != "" {
				t.Fatalf("round %d: rm printed %q; the sessions are %q", i, out, got)
			} else if len(got) == 0 {
				r.domarkx("restore", at)
			}
		case 2:
			r.domarkx("rm", at)
			out, _ := r.killed(moment(random, takes), i%killWays, "restore", at)
			if got := names(); len(got) == 0 && out != "" {
				t.Fatalf("round %d: restore printed %q; there is no session", i, out)
			} else if len(got) == 0 {
				r.domarkx("restore", at)
			}
		}
		if shown := r.shown(at)[0]; shown != want {
			t.Fatalf("round %d: the session reads %q", i, shown)
		}
		r.intact("round", i)
		noLocks(t, r.path(".git"), "round", i)
	}
	r.sound("at the end")
	r.noScraps()
}

// TestFaultKillExchange kills pushes and pulls. Both repositories must stay valid, and
// the next exchange must succeed without a repair.
func TestFaultKillExchange(t *testing.T) {
	t.Parallel()
	s, random := newSite(t), newRandom(t)
	s.git("init", "-q", "--bare", "origin.git")
	origin := s.at("origin.git")
	s.git("clone", "-q", "origin.git", "here")
	s.git("clone", "-q", "origin.git", "there")
	here, there := s.at("here"), s.at("there")
	names := map[*site][]string{} // of the sessions that change here or there
	written := ""
	change := func(from *site, text string) {
		written += "\n## user\n\n" + text + "\n"
		for _, name := range names[from] {
			from.write("in/"+name+".md", written)
		}
		from.domarkx("import", "in")
	}
	for n := range 4 {
		names[here], names[there] = append(names[here], fmt.Sprintf("h%d", n)), append(names[there], fmt.Sprintf("t%d", n))
	}
	change(here, "to begin with")
	change(there, "to begin with")
	here.domarkx("push", "origin", "--all")
	there.domarkx("pull", "origin")
	there.domarkx("push", "origin", "--all")
	takesPush := typical(func() { change(here, "typical") }, func() { here.domarkx("push") })
	takesPull := typical(func() { change(there, "typical"); there.domarkx("push") }, func() { here.domarkx("pull") })
	there.domarkx("pull")
	for i := range rounds(t, 40) {
		text := fmt.Sprintf("round %d.", i)
		changed := here
		if i/killWays%2 == 0 {
			change(here, text)
			out, _ := here.killed(moment(random, takesPush), i%killWays, "push")
			for _, name := range names[here] {
				if strings.Contains(out, name+"\t") && origin.tip(name) != here.tip(name) {
					t.Fatalf("round %d: push printed %q, but %s is at %s here and at %s there", i, out, name, here.tip(name), origin.tip(name))
				}
			}
		} else {
			changed = there
			change(there, text)
			there.domarkx("push")
			here.killed(moment(random, takesPull), i%killWays, "pull")
		}
		here.intact("round", i, "here")
		origin.idle()
		origin.intact("round", i, "origin")
		here.domarkx("pull")
		here.domarkx("push")
		if changed == here {
			there.domarkx("pull")
		}
		if a, b, c := here.tips(), origin.tips(), there.tips(); a != b || b != c || strings.Count(a, "\n") != 8 {
			t.Fatalf("round %d: the sessions are at\n%s,\n%s and\n%s", i, a, b, c)
		}
		for n, shown := range here.shown(names[changed]...) {
			if count := strings.Count(shown, text); count != 1 {
				t.Fatalf("round %d: %q is %d times in %s", i, text, count, names[changed][n])
			}
		}
	}
	here.sound("at the end, here")
	origin.sound("at the end, origin")
	for _, repo := range []*site{here, there} {
		repo.noScraps()
	}
	if left, _ := filepath.Glob(origin.path("objects/pack/*.keep")); len(left) > 0 {
		t.Errorf("left at the remote: %q", left)
	}
}
