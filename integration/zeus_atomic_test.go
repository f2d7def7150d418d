package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// snapshots returns the names of the snapshots in Zeus's directory. It fails the test if
// the directory has other files.
func (f *fleet) snapshots() []string {
	f.tb.Helper()
	files, err := os.ReadDir(filepath.Join(f.home(), ".zeus/snapshots"))
	if err != nil && !os.IsNotExist(err) {
		f.tb.Fatal(err)
	}
	var names []string
	for _, file := range files {
		name, ok := strings.CutSuffix(file.Name(), ".json")
		if !ok {
			f.tb.Errorf("left in Zeus's directory: %s", file.Name())
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// saved returns the names of the sessions, including those in the trash.
func (f *fleet) saved() []string {
	names := strings.Fields(strings.ReplaceAll(f.git("for-each-ref", "--format=%(refname)", "refs/domarkx", "refs/domarkx-trash"), "refs/domarkx/sessions/", ""))
	slices.Sort(names)
	return names
}

// TestZeusSaveWhole saves when one of the two places is not writable. Then the other one
// must not have the snapshot either.
func TestZeusSaveWhole(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.stygian("s-1", f.transcript("a.jsonl"))
	state, refs := filepath.Join(f.home(), ".zeus"), f.path(".git/refs/domarkx")
	for what, path := range map[string]string{"the directory of snapshots is a file": state + "/snapshots", "Zeus's directory is a file": state, "no ref can be made": refs} {
		f.write(path, "in the way\n")
		if o := f.try("", "git-domarkx", "zeus", "save", "--close"); o.code != 128 || o.out != "" || !strings.Contains(o.err, "nothing was saved") {
			t.Errorf("%s: %s", what, o)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if files, sessions := f.snapshots(), f.saved(); len(files)+len(sessions) > 0 {
			t.Errorf("%s: left are the files %q and the sessions %q", what, files, sessions)
		}
		if err := os.RemoveAll(state); err != nil {
			t.Fatal(err)
		}
	}
	if all := f.sessions(); all != "stygian-s-1" {
		t.Errorf("closed: left are %q", all)
	}
	f.domarkx("zeus", "save")
	if files, sessions := f.snapshots(), f.saved(); len(files) != 1 || fmt.Sprint(files) != fmt.Sprint(sessions) {
		t.Errorf("the files are %q and the sessions %q", files, sessions)
	}
	f.sound()
}

// TestZeusSaveBroken makes each system call of a save in turn fail, or be the last before
// a kill.
func TestZeusSaveBroken(t *testing.T) {
	needProgram(t, "strace")
	t.Parallel()
	f := newFleet(t)
	f.stygian("s-1", f.transcript("a.jsonl"))
	f.domarkx("append", "--new", "-m", "so that there is a store", "other")
	binary := filepath.Join(program(t), "git-domarkx")
	state := filepath.Join(f.home(), ".zeus")
	n, failed, killed := 0, 0, 0
	for _, call := range []string{"linkat", "fsync", "renameat", "renameat2", "rename", "unlinkat"} {
		for _, fault := range []string{"error=ENOSPC", "signal=SIGKILL"} {
			for when := 1; ; when++ {
				n++
				what, name, trace := fmt.Sprintf("%s %d: %s", call, when, fault), fmt.Sprintf("try-%d", n), f.path("trace")
				o := f.try("", "strace", "-f", "--seccomp-bpf", "-qq", "-o", trace, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, when),
					binary, "zeus", "save", "--name", name)
				data := f.read(trace)
				isKill := strings.Contains(data, "SIGKILL")
				if !isKill && !strings.Contains(data, "(INJECTED)") {
					break
				}
				var file, session string
				for _, s := range f.snapshots() {
					if strings.HasSuffix(s, "Z-"+name) {
						file = s
					}
				}
				for _, s := range f.saved() {
					if strings.HasSuffix(s, "Z-"+name) {
						session = s
					}
				}
				switch {
				case isKill:
					killed++
					if session != "" && file != session {
						t.Errorf("%s: the session %q has no file\n%s", what, session, o)
					}
				case o.code == 0 && (file == "" || file != session), o.code != 0 && (file != "" || session != ""):
					t.Errorf("%s: the file is %q and the session %q\n%s", what, file, session, o)
				case o.code != 0:
					failed++
				}
				if isKill { // the next save must succeed, whatever the killed one left
					f.domarkx("zeus", "save", "--name", "next")
				}
				if when > 100 {
					t.Fatalf("zeus save calls %s more than 100 times", call)
				}
			}
		}
	}
	if failed == 0 || killed == 0 {
		t.Errorf("%d saves failed and %d were killed", failed, killed)
	}
	t.Logf("%d saves: %d failed, %d were killed", n, failed, killed)
	args := []string{"validate"}
	for _, file := range f.snapshots() {
		args = append(args, filepath.Join(state, "snapshots", file+".json"))
	}
	f.domarkx(args...)
	f.sound()
}

// TestZeusSaveTogether runs several saves at once with the same name.
func TestZeusSaveTogether(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.stygian("s-1", f.transcript("a.jsonl"))
	const savers = 6
	done := make(chan outcome)
	for range savers {
		go func() { done <- f.try("", "git-domarkx", "zeus", "save", "--name", "same") }()
	}
	for range savers {
		if o := <-done; o.code != 0 || o.out == "" {
			t.Errorf("%s", o)
		}
	}
	if files, sessions := f.snapshots(), f.saved(); len(files) != savers || fmt.Sprint(files) != fmt.Sprint(sessions) {
		t.Errorf("the files are %q and the sessions %q", files, sessions)
	}
	f.sound()
}
