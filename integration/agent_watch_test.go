package integration_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

// An agentAt stands for a coding agent: it adds messages to a transcript of Claude Code.
type agentAt struct {
	*site
	session string
	tree    string // where it works
	said    []string
}

// newAgent returns an agent that works in a tree, which may be linked.
func (s *site) newAgent(n int, tree string) *agentAt {
	return &agentAt{site: s, session: fmt.Sprintf("11111111-1111-4111-8111-%012d", n), tree: tree}
}

func (a *agentAt) home() string {
	for _, entry := range a.env {
		if home, ok := strings.CutPrefix(entry, "HOME="); ok {
			return home
		}
	}
	return ""
}

func (a *agentAt) transcript() string {
	return filepath.Join(a.home(), ".claude", "projects", "-agent-"+a.session[len(a.session)-2:], a.session+".jsonl")
}

// say adds a message in as many pieces as agents write it in.
func (a *agentAt) say() string {
	a.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(a.transcript()), 0o700); err != nil {
		a.tb.Fatal(err)
	}
	f, err := os.OpenFile(a.transcript(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		a.tb.Fatal(err)
	}
	defer f.Close()
	n := len(a.said)
	text := fmt.Sprintf("message %d of %s", n, a.session)
	parent := "null"
	if n > 0 {
		parent = fmt.Sprintf(`"%s-%d"`, a.session, n-1)
	}
	line := fmt.Sprintf(`{"type":"user","uuid":"%s-%d","parentUuid":%s,"sessionId":%q,"timestamp":"2026-01-02T03:04:05.000Z","cwd":%q,"isSidechain":false,"message":{"role":"user","content":%q}}`+"\n",
		a.session, n, parent, a.session, a.tree, text)
	for _, piece := range []string{line[:20], line[20 : len(line)-5], line[len(line)-5:]} {
		if _, err := f.WriteString(piece); err != nil {
			a.tb.Fatal(err)
		}
	}
	a.said = append(a.said, text)
	return text
}

// hook runs the agent's hook, which must not print or fail.
func (a *agentAt) hook(event string) {
	a.tb.Helper()
	input, err := json.Marshal(map[string]any{"session_id": a.session, "cwd": a.tree, "hook_event_name": event, "transcript_path": a.transcript()})
	if err != nil {
		a.tb.Fatal(err)
	}
	if o := a.try(string(input), "git-domarkx", "agent", "hook", "claude-code"); o.code != 0 || o.out != "" || o.err != "" {
		a.tb.Errorf("%s", o)
	}
}

// recorded returns the texts of the agent's session in the store.
func (a *agentAt) recorded() []string {
	a.tb.Helper()
	shown := a.shown("claude-code/2026-01-02-message-0-of-" + a.session)[0]
	return regexp.MustCompile(`(?m)^message \d+ of .*$`).FindAllString(shown, -1)
}

// watcher returns the process that records, and whether there is one.
func (s *site) watcher() (int, bool) {
	running, ok := recording.Running(recording.Dir(s.path(".git")))
	return running.PID, ok
}

// endWatcher ends the watcher when the test ends.
func (s *site) endWatcher() {
	s.tb.Cleanup(func() { s.domarkx("agent", "watch", "--stop") })
}

// TestWatcherKilled kills the watcher again and again, at any moment, while an agent writes. Its
// hooks start it again, and every message is recorded once.
func TestWatcherKilled(t *testing.T) {
	t.Parallel()
	s, r := newRepository(t), newRandom(t)
	s.domarkx("agent", "watch")
	s.endWatcher()
	a := s.newAgent(1, s.dir)
	kills := 0
	kill := func() {
		a.say()
		a.hook("Stop")
		time.Sleep(time.Duration(r.IntN(1800)) * time.Millisecond) // a kill at any moment, no condition
		if pid, ok := s.watcher(); ok {
			kills++
			killTree(pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			// While a process ends, it holds its lock, and no other watcher starts.
			eventually(t, "the killed watcher has ended", func() bool { now, ok := s.watcher(); return !ok || now != pid })
		}
	}
	for range rounds(t, 20) {
		kill()
	}
	for i := 0; kills < 3 && i < 20; i++ { // some moments came before the watcher
		kill()
	}
	a.say()
	s.domarkx("agent", "watch")
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(recording.LogPath(recording.Dir(s.path(".git"))))
			t.Logf("the watchers' log:\n%s", log)
		}
	})
	eventually(t, "all messages are recorded", func() bool { return len(a.recorded()) >= len(a.said) })
	if got := a.recorded(); !slices.Equal(got, a.said) {
		t.Errorf("recorded %q, expected %q", got, a.said)
	}
	if kills < 3 {
		t.Errorf("only %d watchers were killed", kills)
	}
	s.sound("after the kills")
}

// TestTenAgents lets ten agents work at once, in the main work tree and a linked one, with hooks
// that are early, doubled or missing.
func TestTenAgents(t *testing.T) {
	t.Parallel()
	s := newRepository(t)
	s.git("commit", "-q", "--allow-empty", "-m", "first")
	s.git("worktree", "add", "-q", "../linked")
	s.domarkx("agent", "watch")
	s.endWatcher()
	const agents, turns = 10, 3
	var all []*agentAt
	var working sync.WaitGroup
	for n := range agents {
		tree := s.dir
		if n%2 == 1 {
			tree = filepath.Join(filepath.Dir(s.dir), "linked")
		}
		a := s.newAgent(n, tree)
		all = append(all, a)
		working.Go(func() {
			for turn := range turns {
				if n%3 == 0 {
					a.hook("UserPromptSubmit") // before the transcript exists
				}
				a.say()
				if n%3 != 1 {
					a.hook("Stop")
				}
				if n%4 == 0 {
					a.hook("Stop")
				}
				if turn == 1 && n == 5 {
					s.domarkx("agent", "watch", "--stop") // another agent's hook starts it again
				}
			}
		})
	}
	working.Wait()
	s.domarkx("agent", "watch")
	for _, a := range all {
		eventually(t, "all messages of "+a.session+" are recorded", func() bool { return len(a.recorded()) >= turns })
		if got := a.recorded(); !slices.Equal(got, a.said) {
			t.Errorf("recorded %q, expected %q", got, a.said)
		}
	}
	if list := s.domarkx("list"); strings.Count(list, "\n") != agents {
		t.Errorf("ten agents became:\n%s", list)
	}
	s.sound("after ten agents")
}

// TestWatcherRecordsTurns checks that turns with and without a hook are recorded, each in one snapshot. BenchmarkRecorded
// measures how soon.
func TestWatcherRecordsTurns(t *testing.T) {
	t.Parallel()
	s := newRepository(t)
	s.domarkx("agent", "watch")
	s.endWatcher()
	a := s.newAgent(1, s.dir)
	for round := range 2 {
		a.record(round == 1)
	}
	if log := s.domarkx("log", "claude-code/2026-01-02-message-0-of-"+a.session); strings.Count(log, "\n") != len(a.said) {
		t.Errorf("%d turns became these snapshots:\n%s", len(a.said), log)
	}
}

// record adds a message, runs the hook of its turn's end if it has one, and returns how long it takes until it is recorded.
func (a *agentAt) record(hook bool) time.Duration {
	a.tb.Helper()
	a.say()
	began := time.Now()
	if hook {
		a.hook("Stop")
	}
	eventually(a.tb, "the answer is recorded", func() bool { return len(a.recorded()) == len(a.said) })
	return time.Since(began)
}

func BenchmarkRecorded(b *testing.B) {
	s := newRepository(b)
	s.domarkx("agent", "watch")
	s.endWatcher()
	a := s.newAgent(1, s.dir)
	for _, hook := range []bool{false, true} {
		var took []time.Duration
		for range 5 {
			took = append(took, a.record(hook))
		}
		score(b, "recorded after the transcript has it: time, "+map[bool]string{false: "without a hook", true: "with one"}[hook], median(took).Seconds(), 2, "s")
	}
}

// hookTimes returns how long hooks take, with a small input and one of 1 MiB.
func hookTimes(s *site, rounds int) (small, large []time.Duration) {
	a := s.newAgent(1, s.dir)
	long := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"PostToolUse","tool_response":%q}`, a.session, s.dir, strings.Repeat("x", 1<<20))
	for range rounds {
		began := time.Now()
		a.hook("Stop")
		small = append(small, time.Since(began))
		began = time.Now()
		s.must(long, "git-domarkx", "agent", "hook", "claude-code")
		large = append(large, time.Since(began))
	}
	return small, large
}

// TestHookStartsNoProgram checks why hooks are fast, which BenchmarkHook measures: while the watcher runs, a hook leaves
// everything to it. It starts no program, not even Git, and does not wait for the watcher.
func TestHookStartsNoProgram(t *testing.T) {
	t.Parallel()
	s := newRepository(t)
	s.domarkx("agent", "watch")
	s.endWatcher()
	pid, ok := s.watcher()
	if !ok {
		t.Fatal("no watcher runs")
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.Signal(syscall.SIGCONT) })
	marked := s.path("started")
	s.write("bin/git", "#!/bin/sh\necho \"$@\" >>'"+marked+"'\nexit 1\n")
	if err := os.Chmod(s.path("bin/git"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := s.newAgent(1, s.dir)
	for name, response := range map[string]string{"small": "", "1 MiB": strings.Repeat("x", 1<<20)} {
		input := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"PostToolUse","tool_response":%q}`, a.session, s.dir, response)
		o := s.try(input, "sh", "-c", `PATH="$1:$PATH" exec git-domarkx agent hook claude-code`, "sh", s.path("bin"))
		if o.code != 0 || o.out != "" || o.err != "" {
			t.Errorf("%s: %s", name, o)
		}
	}
	if data, err := os.ReadFile(marked); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a hook started git %s, %v", data, err)
	}
}

func BenchmarkHook(b *testing.B) {
	s := newRepository(b)
	s.domarkx("agent", "watch")
	s.endWatcher()
	small, large := hookTimes(s, 50)
	score(b, "hook: time", milliseconds(median(small)), 50, "ms")
	score(b, "hook: time, the slowest of 50", milliseconds(slices.Max(small)), 0, "ms")
	score(b, "hook with an input of 1 MiB: time", milliseconds(median(large)), 50, "ms")
	s.domarkx("agent", "watch", "--stop")
	if err := os.RemoveAll(s.path(".git/domarkx/recording/started")); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	s.newAgent(1, s.dir).hook("Stop")
	score(b, "hook that starts the watcher: time", milliseconds(time.Since(began)), 50, "ms")
	eventually(b, "the hook started the watcher", func() bool { _, ok := s.watcher(); return ok })
}

// cpuOf returns the CPU time and the resident memory of a process.
func cpuOf(b *testing.B, pid int) (time.Duration, int64) {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	children, _ := strconv.ParseInt(fields[13], 10, 64)
	pages, _ := strconv.ParseInt(fields[21], 10, 64)
	return time.Duration(user+system+children) * 10 * time.Millisecond, pages * int64(os.Getpagesize())
}

// BenchmarkWatcherIdle measures a watcher with 1,000 transcripts, nine in ten of them belong
// elsewhere.
func BenchmarkWatcherIdle(b *testing.B) {
	s := newRepository(b)
	for n := range 1000 {
		tree := s.dir
		if n%10 > 0 {
			tree = filepath.Dir(s.dir)
		}
		a := s.newAgent(n, tree)
		for range 20 {
			a.say()
		}
	}
	began := time.Now()
	s.domarkx("agent", "watch")
	s.endWatcher()
	eventually(b, "all are recorded", func() bool { return strings.Count(s.domarkx("list"), "\n") == 100 })
	score(b, "watcher: first import of 100 of 1,000 transcripts", time.Since(began).Seconds(), 0, "s")
	pid, ok := s.watcher()
	if !ok {
		b.Fatal("no watcher runs")
	}
	const idle = 70 * time.Second // at least two sweeps
	before, _ := cpuOf(b, pid)
	time.Sleep(idle)
	after, memory := cpuOf(b, pid)
	score(b, "watcher: CPU of a core when idle with 1,000 transcripts", 100*float64(after-before)/float64(idle), 0.5, "%")
	score(b, "watcher: memory", float64(memory)/(1<<20), 300, "MB")
}

// TestWatcherForeground checks that a watcher in the foreground prints the sessions that grow, and
// ends when it is interrupted.
func TestWatcherForeground(t *testing.T) {
	t.Parallel()
	s := newRepository(t)
	a := s.newAgent(1, s.dir)
	a.say()
	cmd := s.command(t.Context(), "git-domarkx", "agent", "watch", "--foreground")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for n := 1; n <= 2; n++ {
		line, err := lines.ReadString('\n')
		if want := fmt.Sprintf("claude-code/2026-01-02-message-0-of-%s\t%s\t%d\n", a.session, s.tip("claude-code/2026-01-02-message-0-of-"+a.session), n); err != nil || line != want {
			t.Errorf("printed %q (%v), expected %q", line, err, want)
		}
		if n == 1 {
			a.say()
		}
	}
	if o := s.try("", "git-domarkx", "agent", "watch"); !strings.Contains(o.err, fmt.Sprintf("process %d records already", cmd.Process.Pid)) {
		t.Errorf("%s", o)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after an interrupt: %v", err)
	}
	if _, ok := s.watcher(); ok {
		t.Error("the watcher goes on")
	}
}
