package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// changing are the system calls that change files.
var changing = []string{"renameat", "renameat2", "rename", "linkat", "link", "unlinkat", "unlink", "mkdirat", "mkdir",
	"fsync", "fdatasync", "sync_file_range", "syncfs", "ftruncate", "flock", "write", "pwrite64"}

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
	trace := r.path("trace")
	called := regexp.MustCompile(`(?m)^\d+\s+(\w+)\(`)
	var made []string // by any run, also one after a kill
	// traced appends a message, and kills the process that makes this call for the when-th time.
	traced := func(call string, when int, text string) (o outcome, killed bool) {
		o = r.try("", "strace", "-f", "-qq", "-o", trace, "-e", "trace="+strings.Join(changing, ","),
			"-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, when), program, "append", "--new", "-m", text, "s")
		data, _ := os.ReadFile(trace)
		for _, m := range called.FindAllStringSubmatch(string(data), -1) {
			if !slices.Contains(made, m[1]) {
				made = append(made, m[1])
			}
		}
		return o, strings.Contains(string(data), "SIGKILL") || o.code != 0
	}
	kills := 0
	var whole []string // the texts of the appends that were not killed
	each := func(call string) {
		for when := 1; ; when++ {
			text, next := fmt.Sprintf("%s %d.", call, when), fmt.Sprintf("after %s %d.", call, when)
			loose := r.looseObjects()
			o, killed := traced(call, when, text)
			if !killed {
				whole = append(whole, text)
				return
			}
			kills++
			for name := range r.looseObjects() {
				if !loose[name] {
					os.Remove(name)
				}
			}
			r.git("rev-list", "--objects", "--quiet", "--all")
			shown := r.shown("s")[0]
			if n := strings.Count(shown, "\n"+text); n > 1 || n == 0 && o.out != "" {
				t.Fatalf("killed at %s %d: %q is %d times in the session; %s", call, when, text, n, o)
			}
			for _, text := range whole {
				if n := strings.Count(shown, "\n"+text); n != 1 {
					t.Fatalf("killed at %s %d: the whole %q is %d times in the session", call, when, text, n)
				}
			}
			if o.code != 0 && o.code != 128 && o.code != 137 && o.code != -1 {
				t.Errorf("killed at %s %d: %s", call, when, o)
			}
			r.domarkx("append", "--new", "-m", next, "s")
			whole = append(whole, next)
			noLocks(t, r.path(".git"), call, when)
			if when > 400 {
				t.Fatalf("append calls %s more than 400 times", call)
			}
		}
	}
	if _, killed := traced("flock", 1<<15, "nothing is killed."); killed {
		t.Fatal("an append without a kill failed")
	}
	var done []string
	for again := true; again; {
		again = false
		for _, call := range changing {
			if slices.Contains(made, call) && !slices.Contains(done, call) {
				each(call)
				done, again = append(done, call), true
			}
		}
	}
	shown := r.domarkx("show", "s")
	for _, text := range whole {
		if n := strings.Count(shown, "\n"+text); n != 1 {
			t.Fatalf("the whole %q is %d times in the session", text, n)
		}
	}
	r.sound()
	r.noScraps()
	t.Logf("%d kills at %q", kills, done)
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
