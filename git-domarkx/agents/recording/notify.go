package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

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
