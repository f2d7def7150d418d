package integration_test

import (
	"fmt"
	"os"
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
	takes := typical(func() { r.domarkx("append", "--new", "-m", "to begin with", "s") })
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
		shown := r.domarkx("show", "s")
		for _, text := range acknowledged {
			if n := strings.Count(shown, text); n != 1 {
				t.Fatalf("round %d: the acknowledged %q is %d times in the session", i, text, n)
			}
		}
		if n := strings.Count(shown, text); n > 1 {
			t.Fatalf("round %d: %q is %d times in the session", i, text, n)
		}
		r.sound("round", i)
	}
	r.domarkx("append", "--new", "-m", "at the end", "s")
	r.noScraps()
	t.Logf("%d kills, %d acknowledged", kills, len(acknowledged))
}

// TestFaultKillNew kills appends that create a session, and imports of one document.
func TestFaultKillNew(t *testing.T) {
	t.Parallel()
	r, random := newRepository(t), newRandom(t)
	number := 0
	takes := typical(func() { number++; r.domarkx("append", "--new", "-m", "text", fmt.Sprintf("typical%d", number)) })
	for i := range rounds(t, 20) {
		name := fmt.Sprintf("s%d", i)
		out, _ := r.killed(moment(random, takes), i/2%killWays, "append", "--new", "-m", "text", name)
		if tip := r.tip(name); out != "" && out != name+"\t"+tip+"\n" {
			t.Fatalf("round %d: append printed %q, the session is at %q", i, out, tip)
		}
		r.domarkx("append", "--new", "-m", "once more", name)
		r.sound("round", i)
		noLocks(t, r.path(".git"), "round", i)
	}
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
	takes := typical(func() { write(); r.domarkx("import", "in") })
	name := func(d int) string { return fmt.Sprintf("d%d", d) }
	for d := range documents {
		was[name(d)] = r.read("in/" + name(d) + ".md")
	}
	for i := range rounds(t, 40) {
		write()
		out, finished := r.killed(moment(random, takes), i%killWays, "import", "in")
		if lines := strings.Count(out, "\n"); finished && lines != documents {
			t.Fatalf("round %d: import printed %d lines: %q", i, lines, out)
		}
		for d := range documents {
			name := name(d)
			want, shown := r.read("in/"+name+".md"), r.domarkx("show", name)
			switch acknowledged := slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return strings.HasPrefix(line, name+"\t") }); {
			case shown == want:
				was[name] = want
			case acknowledged:
				t.Fatalf("round %d: the acknowledged import of %s is not there: %q", i, name, shown)
			case shown != was[name]:
				t.Fatalf("round %d: %s is neither what it was nor what is new: %q", i, name, shown)
			}
		}
		r.sound("round", i)
		if i%4 == 0 {
			r.domarkx("import", "in")
			noLocks(t, r.path(".git"), "round", i)
			for d := range documents {
				was[name(d)] = r.read("in/" + name(d) + ".md")
			}
		}
	}
	r.domarkx("import", "in")
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
	takes := typical(func() { r.write("new.md", text()); edit.domarkx("edit", "s") })
	was := r.read("new.md")
	for i := range rounds(t, 30) {
		want := text()
		r.write("new.md", want)
		out, _ := edit.killed(moment(random, takes), i%killWays, "edit", "s")
		switch shown := r.domarkx("show", "s"); {
		case shown == want:
			was = want
		case out != "":
			t.Fatalf("round %d: the acknowledged edit is not there: %q", i, shown)
		case shown != was:
			t.Fatalf("round %d: the session is neither what it was nor what is new: %q", i, shown)
		}
		r.sound("round", i)
	}
	r.write("new.md", text())
	edit.domarkx("edit", "s")
	if shown := r.domarkx("show", "s"); shown != r.read("new.md") {
		t.Errorf("after the kills an edit gives %q", shown)
	}
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
	takes := typical(func() { r.domarkx("rename", at, other[at]); at = other[at] })
	for i := range rounds(t, 40) {
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
		if shown := r.domarkx("show", at); shown != want {
			t.Fatalf("round %d: the session reads %q", i, shown)
		}
		r.sound("round", i)
		noLocks(t, r.path(".git"), "round", i)
	}
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
	const sessions = 4
	change := func(from *site, text string) {
		for n := range sessions {
			from.domarkx("append", "--new", "-m", text, fmt.Sprintf("s%d", n))
		}
	}
	change(here, "to begin with")
	here.domarkx("push", "origin", "--all")
	there.domarkx("pull", "origin")
	takesPush := typical(func() { change(here, "typical"); here.domarkx("push") })
	takesPull := typical(func() { there.domarkx("pull"); change(here, "typical"); here.domarkx("push") }) - takesPush
	takesPull = max(takesPull, takesPush)
	there.domarkx("pull")
	for i := range rounds(t, 40) {
		text := fmt.Sprintf("round %d.", i)
		if i/killWays%2 == 0 {
			change(here, text)
			out, _ := here.killed(moment(random, takesPush), i%killWays, "push")
			for n := range sessions {
				name := fmt.Sprintf("s%d", n)
				if strings.Contains(out, name+"\t") && origin.tip(name) != here.tip(name) {
					t.Fatalf("round %d: push printed %q, but %s is at %s here and at %s there", i, out, name, here.tip(name), origin.tip(name))
				}
			}
		} else {
			change(there, text)
			there.domarkx("pull")
			there.domarkx("push")
			here.killed(moment(random, takesPull), i%killWays, "pull")
		}
		here.sound("round", i, "here")
		origin.idle()
		origin.sound("round", i, "origin")
		here.domarkx("pull")
		here.domarkx("push")
		there.domarkx("pull")
		for n := range sessions {
			name := fmt.Sprintf("s%d", n)
			if a, b, c := here.tip(name), origin.tip(name), there.tip(name); a != b || b != c {
				t.Fatalf("round %d: %s is at %s, %s and %s", i, name, a, b, c)
			}
			if n := strings.Count(here.domarkx("show", name), text); n != 1 {
				t.Fatalf("round %d: %q is %d times in %s", i, text, n, name)
			}
		}
	}
	for _, repo := range []*site{here, there} {
		repo.noScraps()
	}
	if left, _ := filepath.Glob(origin.path("objects/pack/*.keep")); len(left) > 0 {
		t.Errorf("left at the remote: %q", left)
	}
}

// TestFaultKillAtEachCall kills an append and its git processes at each system call that
// changes files, one call per run. After each kill it simulates the end of a prune that
// determined the reachable objects before the append started: it removes all new loose
// objects.
func TestFaultKillAtEachCall(t *testing.T) {
	needProgram(t, "strace")
	t.Parallel()
	r := newRepository(t)
	r.domarkx("append", "--new", "-m", "to begin with", "s")
	program := filepath.Join(program(t), "git-domarkx")
	kills := 0
	for _, call := range []string{"renameat", "renameat2", "rename", "linkat", "link", "unlinkat", "unlink", "mkdirat", "mkdir",
		"fsync", "fdatasync", "sync_file_range", "syncfs", "ftruncate", "flock", "write", "pwrite64"} {
		for when := 1; ; when++ {
			text := fmt.Sprintf("%s %d.", call, when)
			trace := r.path("trace")
			loose := r.looseObjects()
			o := r.try("", "strace", "-f", "-qq", "-o", trace, "-e", "trace="+call,
				"-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, when), program, "append", "--new", "-m", text, "s")
			data, _ := os.ReadFile(trace)
			if !strings.Contains(string(data), "SIGKILL") && o.code == 0 {
				if n := strings.Count(r.domarkx("show", "s"), text); n != 1 {
					t.Fatalf("%q is %d times in the session", text, n)
				}
				break
			}
			kills++
			for name := range r.looseObjects() {
				if !loose[name] {
					os.Remove(name)
				}
			}
			r.git("rev-list", "--objects", "--quiet", "--all")
			n := strings.Count(r.domarkx("show", "s"), text)
			if n > 1 || n == 0 && o.out != "" {
				t.Fatalf("killed at %s %d: %q is %d times in the session; %s", call, when, text, n, o)
			}
			if o.code != 0 && o.code != 128 && o.code != 137 && o.code != -1 {
				t.Errorf("killed at %s %d: %s", call, when, o)
			}
			next := fmt.Sprintf("after %s %d.", call, when)
			r.domarkx("append", "--new", "-m", next, "s")
			if n := strings.Count(r.domarkx("show", "s"), next); n != 1 {
				t.Fatalf("killed at %s %d: the next append is %d times in the session", call, when, n)
			}
			noLocks(t, r.path(".git"), call, when)
			if when > 400 {
				t.Fatalf("append calls %s more than 400 times", call)
			}
		}
	}
	r.sound()
	r.noScraps()
	t.Logf("%d kills", kills)
}

// looseObjects returns the paths of the loose objects.
func (s *site) looseObjects() map[string]bool {
	s.tb.Helper()
	names, err := filepath.Glob(s.path(".git/objects/??/*"))
	if err != nil {
		s.tb.Fatal(err)
	}
	files := map[string]bool{}
	for _, name := range names {
		files[name] = true
	}
	return files
}
