package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// An inbox reads the notifications of hooks and tracks which tool calls are running. An agent waits
// for its hook before it begins a call, so each running call has a notification. The methods are
// safe for concurrent use.
type inbox struct {
	dir string

	mu       sync.Mutex
	waiting  []Event             // read, and not taken
	sessions map[string]*running // by agent and session
	reports  map[string]bool     // agents whose hooks report when a call begins
}

// running tracks the tool calls of one session, as hooks reported them.
type running struct {
	last time.Time      // when the last one began
	open map[string]int // number of calls that have not ended, by call id; "" if the agent reports no ids
}

func newInbox(dir string) *inbox {
	return &inbox{dir: dir, sessions: map[string]*running{}, reports: map[string]bool{}}
}

// take returns the events that hooks reported, in the order of their times, and forgets them.
func (in *inbox) take(now time.Time) []Event {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.read(now)
	all := in.waiting
	in.waiting = nil
	slices.SortStableFunc(all, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return all
}

// lateAfter is used for agents whose hooks do not report when a call begins: a version taken within
// this time after an event counts as exact, because the model needs longer to request the next
// call.
const lateAfter = time.Second

// late reports whether a call of the event's session was running at the event or may have begun
// since.
func (in *inbox) late(e Event) bool {
	now := time.Now()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.read(now)
	if !in.reports[e.Agent] {
		return now.Sub(e.Time) > lateAfter && e.Kind != agents.TurnStop && e.Kind != agents.SessionEnd
	}
	r := in.sessions[e.Agent+":"+e.Session]
	return r != nil && (len(r.open) > 0 || r.last.After(e.Time))
}

// read reads and removes the files of the notifications.
func (in *inbox) read(now time.Time) {
	entries, err := os.ReadDir(eventsDir(in.dir))
	if err != nil {
		return
	}
	for _, entry := range entries { // in the order of their times
		path := filepath.Join(eventsDir(in.dir), entry.Name())
		if strings.HasPrefix(entry.Name(), ".") { // being written, or left by a killed hook
			if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > maxAge {
				os.Remove(path)
			}
			continue
		}
		data, err := agents.ReadRegular(path, maxEvent)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		os.Remove(path)
		var e Event
		if err != nil || json.Unmarshal(data, &e) != nil || e.Kind == Recorded || e.Agent == "" ||
			now.Sub(e.Time) > maxAge || e.Time.Sub(now) > time.Minute {
			continue
		}
		in.note(e)
		in.waiting = append(in.waiting, e)
	}
}

// forgotten is the time after which a call counts as ended, because its agent was probably killed.
const forgotten = time.Hour

// note updates the running calls. A call that the user refused begins but never ends, so the end of
// a turn ends all calls.
func (in *inbox) note(e Event) {
	key := e.Agent + ":" + e.Session
	r := in.sessions[key]
	ids := e.Calls
	if len(ids) == 0 {
		ids = []string{""}
	}
	switch e.Kind {
	case agents.CallBegins:
		in.reports[e.Agent] = true
		if r == nil {
			r = &running{open: map[string]int{}}
			in.sessions[key] = r
		}
		r.last = e.Time
		for _, id := range ids {
			r.open[id]++
		}
	case agents.ToolsDone:
		for _, id := range ids {
			if r == nil {
				break
			}
			if r.open[id]--; r.open[id] <= 0 {
				delete(r.open, id)
			}
		}
	case agents.PromptSubmit, agents.TurnStop:
		if r != nil {
			clear(r.open)
		}
	case agents.SessionEnd:
		delete(in.sessions, key)
	}
	for other, calls := range in.sessions {
		if e.Time.Sub(calls.last) > forgotten {
			delete(in.sessions, other)
		}
	}
}

// eventsDir returns the directory of the notifications that the watcher has not read. Each is a
// file, so that none is lost while no watcher runs.
func eventsDir(dir string) string { return filepath.Join(dir, "events") }

const (
	maxWaiting = 1000             // maximum number of notifications that wait for a watcher
	maxEvent   = 64 << 10         // maximum size of a notification, in bytes
	maxAge     = 10 * time.Minute // the watcher ignores older notifications
)

// errFull means that too many notifications wait.
var errFull = errors.New("too many notifications wait for the watcher")

// Unheard reports whether notifications wait for the watcher.
func Unheard(dir string) bool {
	list, err := os.ReadDir(eventsDir(dir))
	return err == nil && len(list) > 0
}

// Notify gives an event to the watcher, now or when it starts. The file is not synced: after a
// power cut, the watcher looks at all transcripts anyway.
func Notify(dir string, e Event) error {
	events := eventsDir(dir)
	if err := os.MkdirAll(events, 0o700); err != nil {
		return err
	}
	if isFull(events) {
		return errFull
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(data) > maxEvent {
		e.Calls, e.Transcript = nil, ""
		if data, err = json.Marshal(e); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("%020d-%d-%08x", e.Time.UnixNano(), os.Getpid(), rand.Uint32())
	temp := filepath.Join(events, "."+name)
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(events, name+".json"))
}

func isFull(events string) bool {
	dir, err := os.Open(events)
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxWaiting)
	return len(names) == maxWaiting
}
