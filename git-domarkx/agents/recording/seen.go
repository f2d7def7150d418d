package recording

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

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
