package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// registration is the note that a server leaves about its mount, locked while it
// serves: the others of this repository are known by it.
type registration struct {
	Dir string `json:"dir"`
	PID int    `json:"pid"`

	file *os.File
}

// register notes a mount on dir. In a repository that takes no writes nothing is
// noted.
func register(ctx context.Context, git *gitcmd.Git, dir string) (*registration, error) {
	path := registrationPath(git, dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &registration{}, ignoreReadOnly(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return &registration{}, ignoreReadOnly(err)
	}
	if err := lockSoon(ctx, file); err != nil {
		return nil, errors.Join(fmt.Errorf("mounting on %q: another process serves a mount there, or is about to: %w", dir, err), file.Close())
	}
	r := &registration{Dir: dir, PID: os.Getpid(), file: file}
	data, err := json.Marshal(r)
	if err == nil {
		err = errors.Join(file.Truncate(0), writeAll(file, data))
	}
	return r, err
}

// lockSoon takes a lock that a process which is just dying may still have.
func lockSoon(ctx context.Context, file *os.File) error {
	for try := 0; ; try++ {
		err := lockFile(file)
		if err == nil || try == 300 {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits a moment, unless the command is ended.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(10 * time.Millisecond):
		return nil
	}
}

func writeAll(file *os.File, data []byte) error {
	_, err := file.Write(data)
	return err
}

func ignoreReadOnly(err error) error {
	if errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	return err
}

// end takes the note away.
func (r *registration) end() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(os.Remove(r.file.Name()), r.file.Close())
}

func registrationPath(git *gitcmd.Git, dir string) string {
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, filepath.Base(dir))
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(git.StateDir(), "mounts", fmt.Sprintf("%x", sum[:8]))
}

// mountState is a mount of the repository.
type mountState struct {
	dir  string
	pid  int
	dead bool // its process is gone, and the folder is unusable
}

func (m mountState) describe() string {
	if m.dead {
		return "dead: git domarkx mount " + m.dir
	}
	return fmt.Sprintf("served by process %d", m.pid)
}

// mounts returns the repository's mounts.
func (inv *invocation) mounts() ([]mountState, error) {
	git, err := inv.git()
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(git.StateDir(), "mounts", "*"))
	if err != nil {
		return nil, err
	}
	var states []mountState
	for _, path := range paths {
		data, err := os.ReadFile(path)
		var r registration
		if err != nil || json.Unmarshal(data, &r) != nil {
			continue // it is being made or taken away
		}
		state := mountState{dir: r.Dir, pid: r.PID, dead: disconnected(r.Dir)}
		if state.dead || served(path) { // else the machine was started anew
			states = append(states, state)
		}
	}
	return states, nil
}

// served reports whether a process holds the lock of a note.
func served(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return lockFile(file) != nil
}

// awaitServer waits until the server of a mount that is unmounted has made
// snapshots of all that was saved.
func awaitServer(ctx context.Context, git *gitcmd.Git, dir string) error {
	path := registrationPath(git, dir)
	for served(path) {
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}
