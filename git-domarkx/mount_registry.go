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

	"github.com/domarkx/domarkx/fusefs/mountpoint"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// registration is the note that a server writes about its mount. The server holds a lock
// on the note while it serves. Commands find the repository's mounts by these notes.
type registration struct {
	Dir string `json:"dir"`
	PID int    `json:"pid"`

	file    *os.File
	control *control
}

// register writes the note about a mount on dir. If the repository is read-only, it
// writes none.
func register(ctx context.Context, git *gitcmd.Git, dir string) (*registration, error) {
	path, err := registrationPath(git.CommonDir, dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &registration{}, ignoreReadOnly(err)
	}
	var file *os.File
	for ours := false; !ours; ours = isFileAt(file, path) { // the previous owner may just have removed the file
		if file != nil {
			file.Close()
		}
		if file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return &registration{}, ignoreReadOnly(err)
		}
		if err := lockSoon(ctx, file); err != nil {
			return nil, errors.Join(fmt.Errorf("mounting on %q: another process serves a mount there, or is about to: %w", dir, err), file.Close())
		}
	}
	r := &registration{Dir: dir, PID: os.Getpid(), file: file}
	data, err := json.Marshal(r)
	if err == nil {
		err = errors.Join(file.Truncate(0), writeAll(file, data))
	}
	return r, err
}

// isFileAt reports whether a path still refers to an open file.
func isFileAt(file *os.File, path string) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	open, err := file.Stat()
	return err == nil && os.SameFile(there, open)
}

// lockSoon takes a lock. It retries for a while, because a process that is exiting may
// still hold it.
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

// pause waits for a moment, or until the command is cancelled.
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

// end removes the note, unless "unmount --force" has removed it and another server has
// written its own.
func (r *registration) end() error {
	if r.file == nil {
		return nil
	}
	if r.control != nil {
		r.control.end()
	}
	var err error
	if path := r.file.Name(); isFileAt(r.file, path) {
		err = removeNote(path)
	}
	return errors.Join(err, r.file.Close())
}

// removeNote removes a note and the socket that belongs to it.
func removeNote(path string) error {
	if err := os.Remove(controlPath(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Remove(path)
}

// noteOf returns the path of the note about a mount of this repository on a directory.
func (inv *invocation) noteOf(dir string) (string, error) {
	git, err := inv.git()
	if err != nil {
		return "", err
	}
	return registrationPath(git.CommonDir, dir)
}

// registrationPath returns the path of the note about a mount on dir, in the repository
// with the given common directory.
func registrationPath(commonDir, dir string) (string, error) {
	dir, err := mountpoint.Resolve(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(commonDir, "domarkx", "mounts", fmt.Sprintf("%x", sum[:8])), nil
}

// mountState describes a mount of the repository.
type mountState struct {
	dir  string
	pid  int
	dead bool   // the server ended, and the directory is unusable
	note string // the path of the note
}

// describe says which process serves the mount and whether it answers.
func (m mountState) describe(ctx context.Context) string {
	if m.dead {
		return "dead: git domarkx mount " + m.dir
	}
	if err := m.answers(ctx); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("served by process %d", m.pid)
}

// answers returns an error with advice if the server of a mount does not answer within a
// second. It asks the socket and not the mount itself: a process that accesses the mount
// of a stopped server cannot be killed.
func (m mountState) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reportPatience)
	defer cancel()
	hangs := stopped(m.pid)
	if !hangs {
		_, err := m.ask(ctx, askAlive)
		hangs = isTimeout(err)
	}
	if hangs {
		return fmt.Errorf("%s, or detach the mount with git domarkx unmount --force %s", noAnswer(m.pid), m.dir)
	}
	return nil
}

// warnOfMounts warns about mounts whose servers do not answer.
func (inv *invocation) warnOfMounts() {
	mounts, err := inv.mounts()
	if err != nil {
		return // only a hint, so its errors do not matter
	}
	for _, m := range mounts {
		if m.dead {
			continue
		}
		if err := m.answers(inv.ctx); err != nil {
			inv.warn(fmt.Errorf("warning: %w", err))
		}
	}
}

// ask sends a question to the server of a mount.
func (m mountState) ask(ctx context.Context, question string) (controlAnswer, error) {
	return ask(ctx, controlPath(m.note), question)
}

// isTimeout reports whether the server did not answer in time. A missing socket is
// another error: then the server is starting or ending.
func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
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
		if state, ok := readMount(path, git.CommonDir); ok {
			states = append(states, state)
		}
	}
	return states, nil
}

// mountAt returns the mount of sessions on a directory, of any repository, if its server
// left a note.
func mountAt(dir string) (mountState, bool) {
	source, ok := mountpoint.SourceOf(dir)
	if !ok || !filepath.IsAbs(source) {
		return mountState{}, false
	}
	path, err := registrationPath(source, dir)
	if err != nil {
		return mountState{}, false
	}
	return readMount(path, source)
}

// readMount reads the note about a mount of the repository with the given common
// directory. It reports false for a note that is incomplete, just being removed, or left
// from before a reboot.
func readMount(path, commonDir string) (mountState, bool) {
	if filepath.Ext(path) != "" {
		return mountState{}, false // a socket, not a note
	}
	data, err := os.ReadFile(path)
	var r registration
	if err != nil || json.Unmarshal(data, &r) != nil {
		return mountState{}, false
	}
	m := mountState{dir: r.Dir, pid: r.PID, note: path}
	if served(path) {
		return m, true
	}
	source, mounted := mountpoint.SourceOf(r.Dir)
	m.dead = mounted && source == commonDir
	return m, m.dead
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

// awaitServer waits until the server of an unmounted mount has created snapshots of all
// saves.
func awaitServer(ctx context.Context, m mountState) error {
	for served(m.note) {
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}
