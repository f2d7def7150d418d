package recording

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"time"

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
	if err != nil || json.Unmarshal(data, &s) != nil {
		s = Seen{}
	}
	if s.Files == nil {
		s.Files = map[string]fileState{}
	}
	if s.Hooks == nil {
		s.Hooks = map[string]time.Time{}
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
