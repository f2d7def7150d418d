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

// fastKills is how often the kill tests together kill, about, in a fast run.
const fastKills = 250

// rounds counts the rounds of a random test: as many as fast says; in proportion
// more or fewer with DOMARKX_KILLS, which counts the kills of all tests together;
// and at least until the time SOAK has passed, if that is set.
func rounds(tb testing.TB, fast int) iter.Seq[int] {
	tb.Helper()
	n, until := fast, time.Time{}
	if text := os.Getenv("DOMARKX_KILLS"); text != "" {
		all, err := strconv.Atoi(text)
		if err != nil || all < 1 {
			tb.Fatalf("DOMARKX_KILLS=%q is not a number of kills", text)
		}
		n = max(1, fast*all/fastKills)
	}
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

// soaking reports whether the suites run at length.
func soaking() bool { return os.Getenv("SOAK") != "" }

// newRandom returns random numbers that DOMARKX_SEED makes those of an earlier
// run; the seed is logged.
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

// How a victim dies: it alone, so that what it started lives on, or all at once.
const (
	killParent = iota
	killAll
	killWays
)

// killed runs the program and kills it after a delay, unless it ended before. It
// returns what it had printed, all of which was acknowledged.
func (s *site) killed(delay time.Duration, way int, args ...string) (printed string, finished bool) {
	s.tb.Helper()
	out, err := os.CreateTemp(s.tb.TempDir(), "")
	if err != nil {
		s.tb.Fatal(err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := s.command(s.tb.Context(), "git-domarkx", args...)
	// Files, not pipes: what outlives the victim may hold them.
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

// killTree kills all that a process started, but not a git that serves another
// repository: that is the other machine.
func killTree(pid int) {
	syscall.Kill(pid, syscall.SIGSTOP) // nothing new is started
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

// typical measures how long a command takes, so that kills hit all of it.
func typical(run func()) time.Duration {
	longest := time.Duration(0)
	for range 3 {
		start := time.Now()
		run()
		longest = max(longest, time.Since(start))
	}
	return longest
}

// moment picks when to kill something that takes about so long: at any time, and
// now and then after it.
func moment(r *rand.Rand, takes time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(takes) * 11 / 10))
}

// noLocks fails the test when a lock file was left in a repository.
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

// noScraps fails the test when something was left that neither this program nor
// Git clears away.
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
