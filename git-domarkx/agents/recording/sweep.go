package recording

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// sweep looks at all transcripts, and follows new directories.
func (w *Watcher) sweep(ctx context.Context, now time.Time) error {
	if now.Sub(w.asked) >= sweepEvery || now.Before(w.asked) {
		if err := w.ask(ctx); err != nil {
			return err
		}
		w.asked = now
		w.remember()
	}
	every := sweepEvery
	if w.polls {
		every = pollEvery
	}
	w.sweepAt = now.Add(every)
	for range maxRounds { // directories can appear while others are being followed
		if !w.follow(w.directories(ctx)) {
			break
		}
	}
	found := map[string]bool{}
	for _, a := range w.followed {
		for _, file := range w.scan(ctx, a, now) {
			found[file] = true
		}
	}
	if w.polls {
		w.takeEvents(ctx)
	}
	w.forget(found)
	return ctx.Err()
}

// maxRounds is how often one sweep looks for new directories.
const maxRounds = 5

func (w *Watcher) directories(ctx context.Context) map[string]bool {
	dirs := map[string]bool{w.Dir: true, eventsDir(w.Dir): true}
	for _, a := range w.followed {
		below, err := a.Dirs(ctx, w.Environ)
		if err != nil && ctx.Err() == nil {
			w.warnOnce("looking for transcripts of "+a.Name, err)
		}
		for _, dir := range below {
			dirs[dir] = true
		}
	}
	return dirs
}

// ask reads the settings and the description of the repository again. It returns errEnded if
// nothing is to be recorded.
func (w *Watcher) ask(ctx context.Context) error {
	settings, err := ReadSettings(w.Dir)
	if err != nil {
		w.Logger.Error("recording", "err", err)
		return nil // keep the previous settings
	}
	if !settings.Enabled() {
		w.Logger.Info("nothing is to be recorded any more")
		return errEnded
	}
	repository, err := w.Repository(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errEnded
	case err != nil && w.repository.Trees == nil:
		return err
	case err != nil:
		w.Logger.Error("reading the repository", "err", err)
		return nil
	}
	if !slices.Equal(w.repository.Trees, repository.Trees) || !w.repository.Ignore.equal(repository.Ignore) {
		w.reconsider()
	}
	w.repository = repository
	w.followed = slices.DeleteFunc(slices.Clone(w.Agents), func(a agents.Agent) bool {
		_, ok := settings.Since(a.Name)
		return !ok
	})
	return nil
}

// A notifier notifies of changes in directories.
type notifier struct {
	notify  *fsnotify.Watcher // nil if the system cannot notify
	polls   bool              // whether some directory cannot be watched
	watched map[string]bool
}

// follow registers exactly these directories for file system notifications. It reports whether any
// of them is new.
func (w *Watcher) follow(dirs map[string]bool) (more bool) {
	if w.notify == nil {
		return false
	}
	for dir := range w.watched {
		if !dirs[dir] {
			_ = w.notify.Remove(dir) // it may be gone already
			delete(w.watched, dir)
		}
	}
	for dir := range dirs {
		err := w.notify.Add(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !w.polls {
			w.Logger.Warn("a directory cannot be followed, so the transcripts are looked at each second", "dir", dir, "err", err)
			w.polls = true
			w.sweepSoon(pollEvery)
		}
		if err == nil && !w.watched[dir] {
			w.watched[dir], more = true, true
		}
	}
	return more
}

// scan looks at all transcripts of an agent, and returns them.
func (w *Watcher) scan(ctx context.Context, a agents.Agent, now time.Time) []string {
	files, err := a.Find(ctx, w.Environ)
	if err != nil && ctx.Err() == nil {
		w.warnOnce("looking for transcripts of "+a.Name, err)
	}
	for _, file := range files {
		w.look(a, file, now)
	}
	return files
}

// look notes a transcript as changed if it is recorded and not as it was imported last.
func (w *Watcher) look(a agents.Agent, file string, now time.Time) {
	if ours, known := w.known[file]; known && !ours {
		return
	}
	info, err := agents.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return
	}
	state := stateOf(info)
	if before, importing := w.busy[file]; state == w.seen.Files[file] || importing && state == before {
		return
	}
	if _, known := w.known[file]; !known {
		if silent, ok := w.silent[file]; ok && silent == state {
			return
		}
		dir, ok := a.Began(w.Environ, w.repository.Trees, file)
		if !ok {
			w.silent[file] = state // until its state changes
			return
		}
		delete(w.silent, file)
		ours := agents.Belongs(dir, w.repository.Trees) || w.continues(file, dir)
		w.known[file] = ours && !w.repository.Ignore.Directory(dir)
		if !w.known[file] {
			return
		}
	}
	if w.waiting[file] == nil && info.ModTime().Before(now) {
		w.waiting.changed(file, info.ModTime())
	} else if w.waiting[file] == nil {
		w.waiting.changed(file, now)
	}
}

// continues reports whether a transcript that was recorded here goes on after its directory was
// removed, as an agent does that removes its work tree at the end.
func (w *Watcher) continues(file, dir string) bool {
	if _, recorded := w.seen.Files[file]; !recorded {
		return false
	}
	_, err := os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// isOurs reports whether a path still is a transcript of an agent that is recorded.
func (w *Watcher) isOurs(file string) bool {
	return w.known[file] && slices.ContainsFunc(w.followed, func(a agents.Agent) bool { return a.Match(w.Environ, file) })
}

func isBelow(path, dir string) bool {
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}

// A fileState is the state of a transcript when it was imported last. A file of the same state
// is not read again.
type fileState struct {
	Size int64 `json:"size"`
	Time int64 `json:"time"` // of the last change, in nanoseconds since 1970
}

func stateOf(info fs.FileInfo) fileState {
	return fileState{info.Size(), info.ModTime().UnixNano()}
}

// Seen is the memory of a watcher. It is only a cache: without it, all transcripts are compared
// with their sessions again.
type Seen struct {
	Files map[string]fileState `json:"files"`
	Hooks map[string]time.Time `json:"hooks"` // when a hook of each agent reported last
}

func seenPath(dir string) string { return filepath.Join(dir, "seen.json") }

// ReadSeen reads what the last watcher remembered.
func ReadSeen(dir string) Seen {
	var s Seen
	data, err := os.ReadFile(seenPath(dir))
	if err != nil || json.Unmarshal(data, &s) != nil || s.Files == nil || s.Hooks == nil {
		return Seen{map[string]fileState{}, map[string]time.Time{}}
	}
	return s
}

func (s Seen) write(dir string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.Replace(seenPath(dir), data)
}

// transcripts has the state of the transcripts of all agents.
type transcripts struct {
	seen   Seen
	dirty  bool                 // whether seen changed since it was written
	known  map[string]bool      // those whose directory is known: whether they are recorded
	silent map[string]fileState // those that did not yet name a directory, with their state then
}

func newTranscripts(dir string) transcripts {
	return transcripts{seen: ReadSeen(dir), known: map[string]bool{}, silent: map[string]fileState{}}
}

// reconsider decides anew about each transcript whether it is recorded.
func (t *transcripts) reconsider() {
	clear(t.known)
	clear(t.silent)
}

// forget forgets transcripts that were removed.
func (t *transcripts) forget(found map[string]bool) {
	maps.DeleteFunc(t.known, func(file string, _ bool) bool { return !found[file] })
	maps.DeleteFunc(t.silent, func(file string, _ fileState) bool { return !found[file] })
	for file := range t.seen.Files {
		if _, err := agents.Stat(file); !found[file] && errors.Is(err, fs.ErrNotExist) {
			delete(t.seen.Files, file)
			t.dirty = true
		}
	}
}
