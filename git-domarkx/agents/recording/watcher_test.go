package recording_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

type tests struct{ *testing.M }

func (t tests) Run() int {
	flag.Parse()
	flag.Set("test.parallel", "8") // watchers mostly wait
	return shorttest.Main(t.M)
}

// A desk is a user's home and repository with a watcher.
type desk struct {
	*testing.T
	home, tree, dir string

	mu       sync.Mutex
	imports  [][]string
	contents map[string]string // of the transcripts when they were imported last
	fail     error
	ignore   *recording.Ignore
	gone     bool
	events   []recording.Event
	late     []func() bool // of the events
	changed  chan struct{}
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, home: home, tree: filepath.Join(home, "repo"), contents: map[string]string{}, changed: make(chan struct{}, 1000)}
	d.dir = recording.Dir(filepath.Join(d.tree, ".git"))
	if err := os.MkdirAll(filepath.Join(d.tree, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) record(agents ...string) {
	d.Helper()
	err := recording.ChangeSettings(d.Context(), d.dir, func(s *recording.Settings) {
		for _, a := range agents {
			s.Agents[a] = time.Now()
		}
	})
	if err != nil {
		d.Fatal(err)
	}
}

// watch starts a watcher, and returns a function that ends it and returns its error.
func (d *desk) watch() (stop func() error) {
	d.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	release, err := recording.Acquire(ctx, d.dir)
	if err != nil {
		d.Fatal(err)
	}
	w := recording.New(recording.Config{Dir: d.dir, Agents: agents.All(), Environ: d.getenv,
		Repository: d.repository, Import: d.importFiles, Observer: d, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if testing.Short() {
		w.RetryAfter(100 * time.Millisecond)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- errors.Join(w.Run(ctx, func() { close(ready) }), release()) }()
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
	}
	var once sync.Once
	var result error
	stop = func() error {
		once.Do(func() {
			cancel()
			result = <-ended
		})
		return result
	}
	d.Cleanup(func() { _ = stop() })
	return stop
}

func (d *desk) getenv(name string) string { return map[string]string{"HOME": d.home}[name] }

func (d *desk) repository(context.Context) (recording.Repository, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone {
		return recording.Repository{}, fs.ErrNotExist
	}
	return recording.Repository{Trees: []string{d.tree}, Ignore: d.ignore}, nil
}

func (d *desk) importFiles(_ context.Context, files []string, _ *recording.Ignore) (map[string]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.notice()
	if err := d.fail; err != nil {
		d.fail = nil
		return nil, err
	}
	d.imports = append(d.imports, files)
	sessions := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		d.contents[file] = string(data)
		sessions[file] = "session of " + filepath.Base(file)
	}
	return sessions, nil
}

// Take notes an event.
func (d *desk) Take(_ context.Context, e recording.Event, late func() bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.notice()
	d.events, d.late = append(d.events, e), append(d.late, late)
	return nil
}

// isLate reports whether the version of an event is late.
func (d *desk) isLate(event int) bool {
	d.mu.Lock()
	late := d.late[event]
	d.mu.Unlock()
	return late()
}

func (d *desk) notice() { d.changed <- struct{}{} }

// until waits until something is so.
func (d *desk) until(what string, so func() bool) time.Duration {
	d.Helper()
	began := time.Now()
	deadline := time.After(20 * time.Second)
	for {
		d.mu.Lock()
		ok := so()
		d.mu.Unlock()
		if ok {
			return time.Since(began)
		}
		select {
		case <-d.changed:
		case <-deadline:
			d.Fatalf("not so after 20 s: %s", what)
		}
	}
}

// write adds a line to a transcript of Claude Code that began in a directory.
func (d *desk) write(name, dir string) string {
	d.Helper()
	path := filepath.Join(d.home, ".claude", "projects", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "{\"cwd\":%q}\n", dir); err != nil {
		d.Fatal(err)
	}
	return path
}

func (d *desk) isRecorded(file string) func() bool {
	return func() bool {
		data, err := os.ReadFile(file)
		return err == nil && d.contents[file] == string(data)
	}
}

func TestWatcherFollows(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.record("claude-code")
	d.watch()
	// Neither the agent's directory nor the transcript existed when it started.
	file := d.write("p/1.jsonl", d.tree)
	elsewhere := d.write("q/2.jsonl", d.home)
	d.until("a new transcript is recorded", d.isRecorded(file))
	times, fastest := 3, time.Hour
	if testing.Short() {
		times = 1
	}
	for n := 0; n < times || n < 5 && fastest > 2*time.Second; n++ { // this machine may have other work
		d.write("p/1.jsonl", d.tree)
		fastest = min(fastest, d.until("what was added is recorded", d.isRecorded(file)))
	}
	if fastest > 2*time.Second {
		t.Errorf("what was added was recorded after %v", fastest)
	}
	d.until("the observer is notified", func() bool {
		return len(d.events) > 0 && d.events[0].Kind == recording.Recorded && d.events[0].Transcript == file && d.events[0].Stored == "session of 1.jsonl"
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.contents[elsewhere]; ok {
		t.Error("a conversation of another directory was recorded")
	}
}

func TestWatcherSkipsWhatIsRecorded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.record("claude-code")
	file := d.write("p/1.jsonl", d.tree)
	stop := d.watch()
	d.until("it is recorded at the start", d.isRecorded(file))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	other := d.write("p/2.jsonl", d.tree) // while nothing watches
	d.watch()
	d.until("what was missed is recorded", d.isRecorded(other))
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.imports) != 2 || len(d.imports[1]) != 1 {
		t.Errorf("an unchanged transcript was imported again: %q", d.imports)
	}
}

func TestWatcherRetries(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.record("claude-code")
	d.fail = errors.New("the disk is full")
	file := d.write("p/1.jsonl", d.tree)
	d.watch()
	d.until("it is recorded in the end", d.isRecorded(file))
}

func TestWatcherReadsOnlyOwnFiles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.record("claude-code")
	outside := filepath.Join(d.home, "outside.jsonl")
	if err := os.WriteFile(outside, fmt.Appendf(nil, "{\"cwd\":%q}\n", d.tree), 0o600); err != nil {
		t.Fatal(err)
	}
	own := d.write("p/1.jsonl", d.tree)
	link := filepath.Join(d.home, ".claude", "projects", "p", "link.jsonl")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(d.home, filepath.Join(d.home, ".claude", "projects", "h")); err != nil {
		t.Fatal(err)
	}
	d.watch()
	e := recording.Event{Agent: "claude-code", Kind: agents.TurnStop, Session: "outside", Transcript: outside, Dir: d.tree, Time: time.Now()}
	if err := recording.Notify(d.dir, e); err != nil {
		t.Fatal(err)
	}
	d.until("the hook is heard", func() bool { return len(d.events) > 0 && d.events[0].Transcript == outside })
	d.until("the transcript is recorded", d.isRecorded(own))
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.contents) != 1 {
		t.Errorf("files outside were read: %v", d.contents)
	}
}

// TestWatcherSaysWhatIsLate checks that the observer learns when an agent goes on, from its transcript and its hooks, and
// hears nothing of agents that are not recorded.
func TestWatcherSaysWhatIsLate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.record("claude-code")
	d.watch()
	file := d.write("p/1.jsonl", d.tree)
	d.until("the transcript is recorded", func() bool { return len(d.events) == 1 })
	if d.isLate(0) {
		t.Error("late, but the transcript did not grow")
	}
	d.write("p/1.jsonl", d.tree)
	if !d.isLate(0) {
		t.Errorf("%s grew, and the version is not late", file)
	}
	d.until("what was added is recorded", func() bool { return len(d.events) == 2 })
	now := time.Now()
	for i, e := range []recording.Event{
		{Agent: "cursor", Kind: agents.TurnStop, Session: "c"},
		{Agent: "claude-code", Kind: agents.CallBegins, Session: "1", Calls: []string{"a"}},
		{Agent: "claude-code", Kind: agents.ToolsDone, Session: "1", Calls: []string{"a"}},
	} {
		e.Time = now.Add(time.Duration(i) * time.Millisecond)
		if err := recording.Notify(d.dir, e); err != nil {
			t.Fatal(err)
		}
	}
	d.until("the hooks are heard", func() bool { return len(d.events) == 4 })
	if d.events[2].Kind != agents.CallBegins || d.events[3].Kind != agents.ToolsDone || d.isLate(3) {
		t.Errorf("events %+v", d.events[2:])
	}
	if err := recording.Notify(d.dir, recording.Event{Agent: "claude-code", Kind: agents.CallBegins, Session: "1", Calls: []string{"b"}, Time: now.Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	if !d.isLate(3) {
		t.Error("the next call has begun, and the version is not late")
	}
}

func TestWatcherEnds(t *testing.T) {
	for name, end := range map[string]func(*desk){
		"paused": func(d *desk) {
			if err := recording.ChangeSettings(d.Context(), d.dir, func(s *recording.Settings) { s.Paused = time.Now() }); err != nil {
				d.Error(err)
			}
		},
		"removed": func(d *desk) {
			d.mu.Lock()
			d.gone = true
			d.mu.Unlock()
			if err := os.RemoveAll(d.tree); err != nil {
				d.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.record("claude-code")
			d.watch()
			end(d)
			for until := time.Now().Add(20 * time.Second); ; {
				if _, ok := recording.Running(d.dir); !ok {
					return
				}
				if time.Now().After(until) {
					t.Fatal("the watcher goes on")
				}
				<-time.After(5 * time.Millisecond)
			}
		})
	}
}

func TestOneWatcher(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recording")
	if _, ok := recording.Running(dir); ok {
		t.Error("a watcher runs before the first")
	}
	first, err := recording.Acquire(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var running *recording.RunningError
	if _, err := recording.Acquire(t.Context(), dir); !errors.As(err, &running) || running.Process.PID != os.Getpid() {
		t.Errorf("a second watcher: %v", err)
	}
	if err := first(); err != nil {
		t.Fatal(err)
	}
	if _, ok := recording.Running(dir); ok {
		t.Error("the note of an ended watcher counts")
	}
	again, err := recording.Acquire(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
