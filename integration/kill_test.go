package integration_test

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// allKills is the approximate total number of kills in the rounds of all kill tests, and usualKills that of a usual run.
const (
	allKills   = 250
	usualKills = 25
)

// rounds yields the rounds of a random test: all of them if DOMARKX_KILLS is set to [allKills], otherwise in proportion, and
// [usualKills] by default, but at least one for each way to kill. If SOAK is set to a duration, the rounds continue at least that long.
func rounds(tb testing.TB, all int) iter.Seq[int] {
	tb.Helper()
	kills, until := usualKills, time.Time{}
	if text := os.Getenv("DOMARKX_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil || kills < 1 {
			tb.Fatalf("DOMARKX_KILLS=%q is not a number of kills", text)
		}
	}
	n := max(killWays, all*kills/allKills)
	if text := os.Getenv("SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			tb.Fatalf("SOAK=%q: %v", text, err)
		}
		until = time.Now().Add(d)
	}
	return func(yield func(int) bool) {
		for i := 0; i < n || time.Now().Before(until); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// soaking reports whether the tests run for a long time.
func soaking() bool { return os.Getenv("SOAK") != "" }

// newRandom returns a random number generator and logs its seed. DOMARKX_SEED sets the
// seed, to repeat a run.
func newRandom(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("DOMARKX_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatalf("DOMARKX_SEED=%q: %v", text, err)
		}
	}
	tb.Logf("DOMARKX_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// Ways to kill a program: only the program, so that its children survive, or the whole
// process tree.
const (
	killParent = iota
	killAll
	killWays
)

// killed runs the program and kills it after a delay. It returns the printed output, which
// counts as acknowledged, and whether the program finished first.
func (s *site) killed(delay time.Duration, way int, args ...string) (printed string, finished bool) {
	s.tb.Helper()
	out, err := os.CreateTemp(s.tb.TempDir(), "")
	if err != nil {
		s.tb.Fatal(err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := s.command(s.tb.Context(), "git-domarkx", args...)
	// Use files, because surviving children would keep pipes open.
	cmd.Stdout = out
	stderr, err := os.CreateTemp(s.tb.TempDir(), "")
	if err != nil {
		s.tb.Fatal(err)
	}
	defer os.Remove(stderr.Name())
	defer stderr.Close()
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		s.tb.Fatal(err)
	}
	timer := time.AfterFunc(delay, func() {
		if way == killAll {
			killTree(cmd.Process.Pid)
		}
		cmd.Process.Kill()
	})
	err = cmd.Wait()
	timer.Stop()
	data, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		s.tb.Fatal(readErr)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		said, _ := os.ReadFile(stderr.Name())
		s.tb.Fatalf("git-domarkx %s: exit %d instead of being killed: %s", strings.Join(args, " "), exit.ExitCode(), said)
	}
	return string(data), err == nil
}

// killTree kills a process and its descendants, except a git that serves another
// repository: that one stands for the remote machine.
func killTree(pid int) {
	syscall.Kill(pid, syscall.SIGSTOP) // so that it starts no further children
	for _, child := range children(pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		if strings.Contains(string(line), "receive-pack") || strings.Contains(string(line), "upload-pack") {
			continue
		}
		killTree(child)
		syscall.Kill(child, syscall.SIGKILL)
	}
}

func children(pid int) (pids []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(word); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// idle waits until no git process works in the repository. A receive-pack whose client was
// killed goes on, and git fsck reports its objects as missing when they and their ref
// arrive after fsck has listed the objects (Git before 2.53).
func (s *site) idle() {
	s.tb.Helper()
	inside := func(path string) bool { return path == s.dir || strings.HasPrefix(path, s.dir+"/") }
	eventually(s.tb, "git leaves "+s.dir, func() bool {
		processes, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			s.tb.Fatal(err)
		}
		for _, process := range processes {
			// A process may end at any time, which makes these empty.
			name, _ := os.ReadFile(process + "/comm")
			arguments, _ := os.ReadFile(process + "/cmdline")
			dir, _ := os.Readlink(process + "/cwd")
			started := strings.HasPrefix(string(name), "git") && inside(dir)
			starting := strings.Contains(string(arguments), "receive-pack") && strings.Contains(string(arguments), s.dir)
			if started || starting {
				return false
			}
		}
		return true
	})
}

// typical returns the typical duration of a command, so that kills are spread over all of
// it. What prepare does before each run does not count; it may be nil.
func typical(prepare, run func()) time.Duration {
	const runs = 2
	took := time.Duration(0)
	for range runs {
		if prepare != nil {
			prepare()
		}
		start := time.Now()
		run()
		took += time.Since(start)
	}
	return took / runs
}

// moment returns a random delay within the duration of a command or slightly longer.
func moment(r *rand.Rand, takes time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(takes) * 11 / 10))
}

// noLocks fails the test if a repository contains a lock file.
func noLocks(tb testing.TB, gitDir string, context ...any) {
	tb.Helper()
	err := filepath.WalkDir(gitDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			tb.Errorf("%v: the lock file %s was left", context, path)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// noScraps fails the test if the repository contains leftovers that neither this program
// nor Git cleans up.
func (s *site) noScraps() {
	tb, gitDir := s.tb, s.path(".git")
	tb.Helper()
	s.domarkx("gc")
	s.git("prune", "--expire=now")
	noLocks(tb, gitDir, "at the end")
	for _, pattern := range []string{"objects/pack/*.keep", "objects/pack/tmp*", "objects/pack/.tmp*", "objects/??/tmp*",
		"objects/??/.tmp*", "objects/tmp*", "domarkx/journal/*", "domarkx/edit-*"} {
		left, _ := filepath.Glob(filepath.Join(gitDir, pattern))
		for _, path := range left {
			content, _ := os.ReadFile(path)
			tb.Errorf("%s was left at the end, with %.100q", path, content)
		}
	}
}
