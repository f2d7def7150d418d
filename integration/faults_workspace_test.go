package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outlived returns the processes whose command line contains text.
func outlived(text string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		line, _ := os.ReadFile(file)
		if strings.Contains(string(line), text) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// settled fails the test unless a session's directory matches its last version, or status
// and doctor report the difference.
func (s *site) settled(directory string, context ...any) {
	s.tb.Helper()
	status, doctor := s.domarkx("status"), s.try("", "git-domarkx", "doctor")
	if doctor.code != 0 && !strings.Contains(doctor.out, "\t") {
		s.tb.Fatalf("%v: %s", context, doctor)
	}
	for _, state := range []string{"dirty", "interrupted", "outdated"} {
		if strings.Contains(status, state+"\ts\t") {
			if !strings.Contains(doctor.out, "\ts\t") {
				s.tb.Fatalf("%v: status says %q, and doctor nothing of it: %s", context, status, doctor)
			}
			return
		}
	}
	s.same(directory, context...)
}

// same fails the test unless a directory matches the last version of s.
func (s *site) same(directory string, context ...any) {
	s.tb.Helper()
	tip := s.try("", "git", "rev-parse", "-q", "--verify", "refs/domarkx/workspaces/s")
	if tip.code != 0 {
		return
	}
	out := filepath.Join(s.tb.TempDir(), "out")
	s.domarkx("workspace", "checkout", "s", out)
	if d := s.try("", "diff", "-r", "--no-dereference", filepath.Join(out, "sh"), directory); d.code != 0 {
		s.tb.Fatalf("%v: the directory is not what the last version has: %s", context, d)
	}
	if err := os.RemoveAll(out); err != nil {
		s.tb.Fatal(err)
	}
}

// TestFaultKillCall kills calls. An acknowledged call must be recorded, no process may
// survive, and the next call must succeed without a repair.
func TestFaultKillCall(t *testing.T) {
	t.Parallel()
	s, directory := newWorked(t)
	random := newRandom(t)
	mark := fmt.Sprintf("31%d", os.Getpid())
	call := func(i int) []string {
		return []string{"exec", "s", "sh", "run_command", fmt.Sprintf(
			"command=mkdir -p d%d; for f in $(seq 60); do echo %d $f >d%d/$f; done; (setsid sleep %s &); echo done %d.", i%5, i, i%5, mark, i)}
	}
	takes := typical(nil, func() { s.domarkx(call(0)...) })
	acknowledged := 0
	for i := range rounds(t, 20) {
		out, _ := s.killed(moment(random, takes), i%killWays, call(i+1)...)
		eventually(t, "nothing of a killed call lives on", func() bool { return len(outlived(mark)) == 0 })
		s.settled(directory, "round", i)
		s.domarkx("exec", "--exit-code", "s", "sh", "run_command", fmt.Sprintf("command=echo next %d >next", i))
		s.same(directory, "round", i)
		if out != "" {
			acknowledged++
			if n := strings.Count(s.shown("s")[0], fmt.Sprintf(`"output": "done %d.\n"`, i+1)); n != 1 {
				t.Fatalf("round %d: the acknowledged call is recorded %d times", i, n)
			}
		}
		if status := s.domarkx("status"); strings.Contains(status, "dirty\t") || strings.Contains(status, "interrupted\t") {
			t.Fatalf("round %d: after the next call: %s", i, status)
		}
		s.intact("round", i)
	}
	s.sound("at the end")
	noLocks(t, s.path(".git"), "at the end")
	left, _ := filepath.Glob(s.path(".git/domarkx/calls/*.json"))
	if len(left) > 0 {
		t.Errorf("%v was left", left)
	}
	t.Logf("%d acknowledged", acknowledged)
}

// TestFaultKillRewind kills rewinds, which commit the present state and restore another
// one.
func TestFaultKillRewind(t *testing.T) {
	t.Parallel()
	s, directory := newWorked(t)
	random := newRandom(t)
	const states = 4
	for i := range states {
		s.run(fmt.Sprintf("rm -rf *; mkdir -p d e/deep; for f in $(seq 250); do echo %d $f >d/$f; done; ln -s %d link; echo %d >e/deep/state", i, i, i))
	}
	newest := s.tip("s")
	takes := typical(func() { s.domarkx("rewind", "s@"+newest) }, func() { s.domarkx("rewind", "s#1") })
	s.domarkx("rewind", "s@"+newest)
	for i := range rounds(t, 16) {
		s.write(filepath.Join(directory, "mine"), fmt.Sprint(i))
		to := i % states
		s.killed(moment(random, takes), i%killWays, "rewind", fmt.Sprintf("s#%d", to+1))
		s.settled(directory, "round", i)
		if i/killWays%2 == 0 {
			s.domarkx("exec", "s", "sh", "list_dir", "path=.")
			s.same(directory, "round", i)
		}
		s.domarkx("rewind", "s@"+newest)
		s.domarkx("rewind", fmt.Sprintf("s#%d", to+1))
		if got := s.read(filepath.Join(directory, "e/deep/state")); got != fmt.Sprintf("%d\n", to) {
			t.Fatalf("round %d: after rewinding to state %d it is %q", i, to, got)
		}
		s.same(directory, "round", i)
		s.domarkx("rewind", "s@"+newest)
		s.intact("round", i)
	}
	s.sound("at the end")
	noLocks(t, s.path(".git"), "at the end")
}

// TestFaultKillFork kills forks, and first calls in forks, which load a version into a
// new directory.
func TestFaultKillFork(t *testing.T) {
	t.Parallel()
	s, directory := newWorked(t)
	random := newRandom(t)
	s.run("mkdir -p a/b; for f in $(seq 300); do echo $f >a/b/$f; done")
	number := 0
	takes := typical(func() { number++ }, func() { s.domarkx("fork", "s", fmt.Sprintf("typical%d", number)) })
	for i := range rounds(t, 10) {
		name := fmt.Sprintf("f%d", i)
		s.killed(moment(random, takes), i%killWays, "fork", "s", name)
		if s.tip(name) == "" {
			// A git that outlives its parent may still make the ref.
			if o := s.try("", "git-domarkx", "fork", "s", name); o.code != 0 && !strings.Contains(o.err, "already exists") {
				t.Fatalf("round %d: %s", i, o)
			}
		}
		s.killed(moment(random, takes), i%killWays, "exec", "--yes", name, "sh", "list_dir", "path=.")
		s.domarkx("exec", "--yes", name, "sh", "list_dir", "path=.")
		own := strings.TrimSuffix(s.domarkx("workspace", "path", name), "\n")
		if own == directory {
			t.Fatalf("round %d: the fork works on the same directory", i)
		}
		s.must("", "diff", "-r", directory, own)
		s.intact("round", i)
		s.domarkx("rm", name)
	}
	s.sound("at the end")
	noLocks(t, s.path(".git"), "at the end")
}

// TestFaultKillCheckout kills checkouts. The directory must be complete or unchanged, and
// repeating the command must succeed.
func TestFaultKillCheckout(t *testing.T) {
	t.Parallel()
	s, directory := newWorked(t)
	random := newRandom(t)
	s.domarkx("exec", "s", "sh", "run_command", "command=for d in $(seq 20); do mkdir -p $d/x; for f in $(seq 50); do echo $d $f >$d/x/$f; done; chmod 555 $d; done")
	around := t.TempDir()
	dir := filepath.Join(around, "out")
	clear := func() {
		s.try("", "chmod", "-R", "u+w", around)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	takes := typical(clear, func() { s.domarkx("checkout", "s", dir) })
	for i := range rounds(t, 20) {
		clear()
		if random.IntN(2) == 1 {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		out, _ := s.killed(moment(random, takes), i%killWays, "checkout", "s", dir)
		_, err := os.Lstat(filepath.Join(dir, "sh"))
		if out != "" && err != nil {
			t.Fatalf("round %d: acknowledged, and not there: %v", i, err)
		}
		if err != nil {
			s.domarkx("checkout", "s", dir)
		} else if o := s.try("", "git-domarkx", "checkout", "s", dir); o.code > 1 {
			t.Fatalf("round %d: %s", i, o)
		}
		if d := s.try("", "diff", "-r", "--no-dereference", filepath.Join(dir, "sh"), directory); d.code != 0 {
			t.Fatalf("round %d: the directory is not what the version has: %s", i, d)
		}
		for _, place := range []string{around, dir} {
			if names, err := os.ReadDir(place); err != nil || len(names) != 1 {
				t.Fatalf("round %d: %s has %v: %v", i, place, names, err)
			}
		}
	}
}
