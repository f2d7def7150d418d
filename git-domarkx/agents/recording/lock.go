package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A Process is a running watcher.
type Process struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// A RunningError means that another process watches for the repository.
type RunningError struct{ Process Process }

func (e *RunningError) Error() string {
	return fmt.Sprintf("process %d records this repository's agents already", e.Process.PID)
}

func lockPath(dir string) string { return filepath.Join(dir, "lock") }

// Acquire takes the lock that the only watcher of a repository holds, and returns the function that releases it. The
// system releases it when the process ends, however it ends. The error is a *[RunningError] if another process holds it.
func Acquire(ctx context.Context, dir string) (release func() error, err error) {
	file, err := openLock(lockPath(dir))
	if err != nil {
		return func() error { return nil }, fmt.Errorf("starting to record: %w", err)
	}
	// Other commands hold the lock for a moment to learn whether a watcher runs.
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	err = atomicfile.Lock(short, file)
	if err != nil {
		if running, ok := Running(dir); ok {
			return file.Close, &RunningError{running}
		}
	}
	var data []byte
	if err == nil {
		data, err = json.Marshal(Process{os.Getpid(), time.Now().UTC().Truncate(time.Second)})
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt(data, 0)
	}
	if err != nil {
		err = fmt.Errorf("starting to record: %w", err)
	}
	return file.Close, err
}

// openLock opens a file to be locked.
func openLock(path string) (*os.File, error) {
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// Running returns the watcher of a repository, if one runs.
func Running(dir string) (Process, bool) {
	file, err := os.Open(lockPath(dir))
	if err != nil {
		return Process{}, false
	}
	defer file.Close()
	if err := atomicfile.TryLock(file); !errors.Is(err, atomicfile.ErrLocked) {
		return Process{}, false
	}
	var p Process
	data, err := agents.ReadRegular(lockPath(dir), 4096)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	return p, err == nil && p.PID > 0
}
