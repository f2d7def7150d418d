package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWatcherSleeps stops the watcher as a laptop that sleeps does, while an agent writes and its hooks run. Awake, it
// records the missed events at once.
func TestWatcherSleeps(t *testing.T) {
	t.Parallel()
	s := newRepository(t)
	s.domarkx("agent", "watch")
	s.endWatcher()
	a, silent := s.newAgent(1, s.dir), s.newAgent(2, s.dir)
	a.say()
	eventually(t, "the first message is recorded", func() bool { return len(a.recorded()) == 1 })
	pid, ok := s.watcher()
	if !ok {
		t.Fatal("no watcher runs")
	}
	for range 3 {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			a.say()
			a.hook("UserPromptSubmit")
			a.hook("Stop")
			silent.say()
		}
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		for _, agent := range []*agentAt{a, silent} {
			eventually(t, "what was missed is recorded", func() bool { return slices.Equal(agent.recorded(), agent.said) })
		}
	}
	if now, ok := s.watcher(); !ok || now != pid {
		t.Errorf("the watcher is process %d, it was %d", now, pid)
	}
	s.sound("after sleep")
}

// TestSoakObservedTree records an agent in a large tree: 100,000 files when soaking, with nested repositories, a file of
// 2 GB and files that change all the time. Each turn is a version, hooks return at once, and the tree goes back.
func TestSoakObservedTree(t *testing.T) {
	files, turns := 3_000, 2
	if soaking() {
		files, turns = 100_000, 20
	}
	s := newRepository(t)
	s.git("config", "gc.auto", "0") // it would run while the objects are checked
	for n := range files {
		s.write(fmt.Sprintf("d%03d/f%05d", n%500, n), fmt.Sprintln("file", n))
	}
	s.write(".gitignore", "*.o\n")
	s.write("changed", "0")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "start")
	for n := range 3 {
		s.git("init", "-q", fmt.Sprintf("nested%d", n))
		s.write(fmt.Sprintf("nested%d/file", n), "n")
	}
	s.write("huge", "")
	if err := os.Truncate(s.path("huge"), 2<<30); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	writing := make(chan error, 1)
	go func() { // a log that another program writes
		f, err := os.Create(s.path("busy.log"))
		for err == nil {
			select {
			case <-stop:
				writing <- f.Close()
				return
			default:
				_, err = f.WriteString("line\n")
			}
		}
		writing <- err
	}()
	s.domarkx("agent", "watch")
	s.endWatcher()
	a := s.newAgent(1, s.dir)
	name := "claude-code/2026-01-02-message-0-of-" + a.session
	a.say()
	a.hook("UserPromptSubmit")
	eventually(t, "the first version is there", func() bool { return strings.Contains(s.try("", "git-domarkx", "workspace", "list").out, name) })
	versions := func() int { return strings.Count(s.domarkx("workspace", "log", name), "\n") }
	var took []time.Duration
	for turn := 1; turn <= turns; turn++ {
		before := versions()
		s.write("changed", fmt.Sprint(turn))
		began := time.Now()
		a.hook("Stop")
		took = append(took, time.Since(began))
		eventually(t, "a turn has a version", func() bool { return versions() > before })
	}
	close(stop)
	if err := <-writing; err != nil {
		t.Fatal(err)
	}
	// Alone on the machine: beside other tests the few hooks of a short run may all be slow.
	if fastest := slices.Min(took); soaking() && fastest > 50*time.Millisecond {
		t.Errorf("a hook takes %v", fastest)
	}
	message := s.git("log", "-1", "--format=%B", "refs/domarkx/workspaces/"+name)
	for _, left := range []string{`{"path":"huge","reason":"large"}`, `{"path":"nested0","reason":"nested repository"}`} {
		if !strings.Contains(message, left) {
			t.Errorf("%s is not in the trailer:\n%s", left, message)
		}
	}
	s.domarkx("agent", "watch", "--stop")
	tree := s.git("ls-tree", "-r", "--name-only", "refs/domarkx/workspaces/"+name)
	if n := strings.Count(tree, "worktree/d"); n != files {
		t.Errorf("the version has %d files of %d", n, files)
	}
	s.write("changed", "by hand")
	s.must("", "git-domarkx", "rewind", "--yes", name+"#0")
	if got := s.read("changed"); got != "0" && got != "by hand" {
		t.Errorf("after the rewind: %q", got)
	}
	if info, err := os.Stat(filepath.Join(s.dir, "huge")); err != nil || info.Size() != 2<<30 {
		t.Errorf("the file of 2 GB: %v, %v", info, err)
	}
	s.sound("after recording in a large tree")
}
