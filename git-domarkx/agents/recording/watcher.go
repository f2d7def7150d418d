// Package recording records the conversations of coding agents as they happen. A [Watcher]
// follows the agents' transcripts of one repository and imports the new messages. Agents'
// hooks notify it with [Notify]. One directory in the repository holds all that they share: which
// agents are recorded, the watcher's lock, and notifications that it has not read yet.
//
// The transcript is the record: no agent guarantees that it is complete when a hook runs, and hooks
// can be missing. A hook decides when the watcher looks, and not where: the watcher reads only
// regular files in the agent's own directory whose names fit transcripts. No clocks of different
// processes are compared.
package recording

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// sweepEvery is how often the watcher looks at all transcripts, because notifications of the
// system and of hooks can be missing.
const sweepEvery = 30 * time.Second

// pollEvery is how often it does so where the system cannot notify.
const pollEvery = time.Second

// retryAfter is how long it waits after an import that failed.
const retryAfter = 5 * time.Second

// A Config is the configuration of a [Watcher].
type Config struct {
	Dir     string // see [Dir]
	Agents  []agents.Agent
	Environ agents.Environment

	// Repository describes the repository. It is called at each
	// sweep. If the error matches [fs.ErrNotExist], the repository was removed, and the watcher ends.
	Repository func(ctx context.Context) (Repository, error)
	// Import imports transcripts, and returns the sessions that got a new snapshot by their
	// transcripts. A transcript that is bad is not an error.
	Import func(ctx context.Context, files []string, ignore *Ignore) (map[string]string, error)
	// Observer is notified of events. It may be nil.
	Observer Observer
	Logger   *slog.Logger
}

// A Repository is the repository for which a watcher runs.
type Repository struct {
	Trees  []string // all work trees
	Ignore *Ignore
}

// A Watcher follows the transcripts of the agents that work in a repository. Only its own
// goroutine uses its fields.
type Watcher struct {
	Config
	notifier
	repository Repository
	followed   []agents.Agent // those that are recorded
	asked      time.Time      // when the repository and the settings were read
	transcripts
	warned     map[string]string // the last warning, by subject
	waiting    schedule
	sweepAt    time.Time
	retryAfter time.Duration

	inbox    *inbox
	busy     map[string]fileState // transcripts that are being imported, with their state before
	imported chan outcome
	events   chan notice // those that wait for the observer
}

// An outcome is the result of one import.
type outcome struct {
	sessions map[string]string
	err      error
}

// New returns a watcher. The caller holds the lock of the repository, see [Acquire].
func New(c Config) *Watcher {
	return &Watcher{Config: c, notifier: notifier{watched: map[string]bool{}}, transcripts: newTranscripts(c.Dir), warned: map[string]string{},
		waiting: schedule{}, retryAfter: retryAfter, inbox: newInbox(c.Dir), imported: make(chan outcome, 1), events: make(chan notice, maxEvents)}
}

// errEnded means that nothing is left to record.
var errEnded = errors.New("recording ended")

// Run records until the context ends, the repository is removed, or recording is paused. It
// calls ready when it has looked at all transcripts once and follows them.
func (w *Watcher) Run(ctx context.Context, ready func()) error {
	if err := atomicfile.MkdirAll(eventsDir(w.Dir), 0o700); err != nil {
		return err
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		w.Logger.Warn("the system cannot notify of changes, so the transcripts are looked at each second", "err", err)
		w.polls = true
	} else {
		w.notify = notify
		defer notify.Close()
	}
	ctx, cancel := context.WithCancel(ctx)
	var observing sync.WaitGroup
	observing.Go(func() { w.observe(ctx) })
	defer observing.Wait()
	defer cancel()
	err = w.loop(ctx, ready)
	if w.busy != nil {
		cancel()
		<-w.imported // the import ends before the store is closed
	}
	w.remember()
	if errors.Is(err, errEnded) || ctx.Err() != nil {
		return nil
	}
	return err
}

func (w *Watcher) loop(ctx context.Context, ready func()) error {
	for first := true; ; first = false {
		now := time.Now()
		if !now.Before(w.sweepAt) {
			if err := w.sweep(ctx, now); err != nil {
				return err
			}
		}
		if first {
			ready()
			w.takeEvents(ctx)
		}
		w.importDue(ctx, now)
		if err := w.wait(ctx); err != nil {
			return err
		}
	}
}

// wait waits for something to do, and notes what happened.
func (w *Watcher) wait(ctx context.Context) error {
	until := w.sweepAt
	if at, ok := w.waiting.next(); ok && w.busy == nil && at.Before(until) {
		until = at
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	var changes chan fsnotify.Event
	var failures chan error
	if w.notify != nil {
		changes, failures = w.notify.Events, w.notify.Errors
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	case done := <-w.imported:
		w.settled(done)
	case err := <-failures:
		w.Logger.Warn("following transcripts", "err", err) // also reported when notifications were lost
		w.sweepSoon(0)
	case change := <-changes:
		return w.changed(ctx, change)
	}
	return nil
}

// changed handles a notification of the system.
func (w *Watcher) changed(ctx context.Context, change fsnotify.Event) error {
	now := time.Now()
	switch {
	case change.Name == settingsPath(w.Dir):
		w.asked = time.Time{}
		w.sweepSoon(0)
	case change.Name == w.Dir && change.Has(fsnotify.Remove|fsnotify.Rename):
		return errEnded
	case isBelow(change.Name, eventsDir(w.Dir)):
		if change.Has(fsnotify.Create) {
			w.takeEvents(ctx)
		}
	case isBelow(change.Name, w.Dir):
	case w.waiting[change.Name] != nil:
		w.waiting.changed(change.Name, now)
	default:
		for _, a := range w.followed {
			if a.IsDatabase(w.Environ, change.Name) {
				w.sweepSoon(500 * time.Millisecond) // the agent writes many times a second
				return nil
			}
			if a.Match(w.Environ, change.Name) {
				w.look(a, change.Name, now)
				return nil
			}
		}
		if info, err := os.Lstat(change.Name); err == nil && info.IsDir() && change.Has(fsnotify.Create) {
			w.sweepSoon(20 * time.Millisecond) // the new directory may contain transcripts already
		}
	}
	return nil
}

// sweepSoon makes the next sweep come earlier.
func (w *Watcher) sweepSoon(after time.Duration) {
	if at := time.Now().Add(after); at.Before(w.sweepAt) {
		w.sweepAt = at
	}
}

// takeEvents handles the notifications of hooks.
func (w *Watcher) takeEvents(ctx context.Context) {
	now := time.Now()
	scanned := map[string]bool{}
	for _, e := range w.inbox.take(now) {
		if !slices.ContainsFunc(w.followed, func(a agents.Agent) bool { return a.Name == e.Agent }) {
			continue // another agent ran the hook of one that is recorded
		}
		first := w.seen.Hooks[e.Agent].IsZero()
		w.seen.Hooks[e.Agent], w.dirty = e.Time, true
		if first {
			w.remember() // doctor reads this to report whether hooks are active
		}
		w.notice(notice{e, func() bool { return w.inbox.late(e) }})
		for _, a := range w.followed {
			if a.Name == e.Agent && !scanned[a.Name] {
				scanned[a.Name] = true
				w.scan(ctx, a, now)
			}
		}
		if e.Kind == agents.TurnStop || e.Kind == agents.SessionEnd {
			w.waiting.ended(e.Session)
		}
	}
}

// importDue begins to import the transcripts that are due, if none are being imported.
func (w *Watcher) importDue(ctx context.Context, now time.Time) {
	const batch = 32
	if w.busy != nil {
		return
	}
	files := w.waiting.take(now, batch)
	busy := map[string]fileState{}
	var due []string
	for _, file := range files {
		info, err := agents.Stat(file)
		if err != nil || !w.isOurs(file) {
			continue
		}
		if state := stateOf(info); state != w.seen.Files[file] {
			busy[file] = state
			due = append(due, file)
		}
	}
	if len(due) == 0 {
		return
	}
	w.busy = busy
	ignore := w.repository.Ignore
	go func() {
		sessions, err := w.Import(ctx, due, ignore)
		w.imported <- outcome{sessions, err}
	}()
}

// settled notes the result of an import.
func (w *Watcher) settled(done outcome) {
	busy := w.busy
	w.busy = nil
	if done.err != nil {
		w.warnOnce("importing transcripts", done.err)
		w.sweepSoon(w.retryAfter) // the sweep finds the transcripts again
		return
	}
	for file, state := range busy {
		w.seen.Files[file] = state
	}
	w.dirty = true
	for _, file := range slices.Sorted(maps.Keys(done.sessions)) {
		state := busy[file]
		grew := func() bool {
			info, err := agents.Stat(file)
			return err != nil || stateOf(info) != state
		}
		w.notice(notice{Event{Kind: Recorded, Time: time.Now().UTC(), Transcript: file, Stored: done.sessions[file]}, grew})
	}
}

// remember writes what the next watcher need not find out again.
func (w *Watcher) remember() {
	if !w.dirty {
		return
	}
	if err := w.seen.write(w.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Logger.Warn("noting what was recorded", "err", err)
		return
	}
	w.dirty = false
}

// warnOnce logs a problem, unless it logged the same one last.
func (w *Watcher) warnOnce(doing string, err error) {
	if text := err.Error(); w.warned[doing] != text {
		w.warned[doing] = text
		w.Logger.Warn(doing, "err", err)
	}
}
