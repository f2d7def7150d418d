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

// A Lock is held by the only watcher of a repository. The system releases it when the process
// ends, however it ends.
type Lock struct{ file *os.File }

// Acquire takes the lock of a repository's watcher. The error is a *[RunningError] if another
// process holds it.
func Acquire(ctx context.Context, dir string) (*Lock, error) {
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("starting to record: %w", err)
	}
	file, err := os.OpenFile(lockPath(dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting to record: %w", err)
	}
	// Other commands hold the lock for a moment to learn whether a watcher runs.
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if err := atomicfile.Lock(short, file); err != nil {
		file.Close()
		if running, ok := Running(dir); ok {
			return nil, &RunningError{running}
		}
		return nil, fmt.Errorf("starting to record: %w", err)
	}
	data, err := json.Marshal(Process{os.Getpid(), time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt(data, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting to record: %w", err), file.Close())
	}
	return &Lock{file}, nil
}

// Release releases the lock, if there is one.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
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
