package mountd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// Mounts are the mounts of a repository on this machine. The fields must not change after the first use.
type Mounts struct {
	Git    *gitcmd.Git              // nil if only Unmount and Detach are called
	Getenv func(name string) string // reads the environment
	Warn   func(error)              // reports an error despite which the work continues
	Log    io.Writer                // the log of a server
}

// Prepare creates the mount point, and reports whether this repository is mounted on it already. The error is domarkx.ErrExists
// if the server of a mount there does not answer, and domarkx.ErrInvalid if the directory is not empty.
func (m *Mounts) Prepare(ctx context.Context, dir string) (mounted bool, err error) {
	mounts, err := m.List()
	if err != nil {
		return false, err
	}
	note, err := registrationPath(m.Git.CommonDir, dir)
	if err != nil {
		return false, err
	}
	there, ok := mountAt(dir) // possibly the mount of another repository
	if i := slices.IndexFunc(mounts, func(m Mount) bool { return m.note == note }); i >= 0 {
		there, ok = mounts[i], true
	}
	if ok && !there.Dead {
		if err := there.Answers(ctx); err != nil {
			return false, fmt.Errorf("mounting on %q: %w: %w", dir, domarkx.ErrExists, err)
		}
		if there.note == note && there.awaitAnswer(ctx) {
			return true, nil
		}
	}
	return false, makeMountPoint(dir)
}

// A Mount is a mount of the repository's sessions.
type Mount struct {
	Dir  string
	PID  int    // of its server
	Dead bool   // the server ended, and the directory is unusable
	note string // the path of the note
}

// Describe returns which process serves the mount, or why it cannot be used and what to do.
func (m Mount) Describe(ctx context.Context) string {
	if m.Dead {
		return "dead: git domarkx mount " + m.Dir
	}
	if err := m.Answers(ctx); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("served by process %d", m.PID)
}

// Answers returns an error with advice if the server of a mount does not answer within [ReportPatience]. It asks on the socket
// instead of using the mount: a process that uses the mount of a stopped server cannot be killed.
func (m Mount) Answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ReportPatience)
	defer cancel()
	hangs := stopped(m.PID)
	if !hangs {
		_, err := m.ask(ctx, askAlive)
		hangs = isTimeout(err)
	}
	if hangs {
		return fmt.Errorf("%s, or detach the mount with git domarkx unmount --force %s", m.NoAnswer(), m.Dir)
	}
	return nil
}

// awaitAnswer waits while the server of a mount neither answers nor hangs, since it is starting or ending. It reports false if
// the server ended: a killed process can hold the lock of its note for a moment.
func (m Mount) awaitAnswer(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, ReportPatience)
	defer cancel()
	for served(m.note) {
		if _, err := m.ask(ctx, askAlive); err == nil || isTimeout(err) || pause(ctx) != nil {
			return true
		}
	}
	return false
}

// NoAnswer describes a server that does not answer, with advice.
func (m Mount) NoAnswer() string {
	if stopped(m.PID) {
		return fmt.Sprintf("process %d, which serves the mount, is stopped; continue it with kill -CONT %[1]d", m.PID)
	}
	return fmt.Sprintf("process %d, which serves the mount, does not answer", m.PID)
}

// stopped reports whether a process is stopped by a signal or a debugger. It is false on systems without /proc/PID/stat
// (proc_pid_stat(5)), which only Linux has.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(stat, ')') // the name before it can contain any character
	return i >= 0 && len(stat) > i+2 && (stat[i+2] == 'T' || stat[i+2] == 't')
}

// isTimeout reports whether err means that the server did not answer in time. If the
// socket is missing, the server is starting or ending.
func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// List returns the repository's mounts, including those whose servers died.
func (m *Mounts) List() ([]Mount, error) {
	dir := filepath.Join(m.Git.StateDir(), "mounts")
	notes, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []Mount
	for _, note := range notes {
		if mount, ok := readMount(filepath.Join(dir, note.Name()), m.Git.CommonDir); ok {
			found = append(found, mount)
		}
	}
	return found, nil
}

// live returns the mounts whose servers did not die.
func (m *Mounts) live() ([]Mount, error) {
	mounts, err := m.List()
	return slices.DeleteFunc(mounts, func(mount Mount) bool { return mount.Dead }), err
}

// WarnOfSilent warns about mounts whose servers do not answer.
func (m *Mounts) WarnOfSilent(ctx context.Context) {
	mounts, _ := m.live() // a missing warning is no harm
	for _, mount := range mounts {
		if err := mount.Answers(ctx); err != nil {
			m.Warn(fmt.Errorf("warning: %w", err))
		}
	}
}

// mountAt returns the mount of sessions on a directory, of any repository, if there is a note about it.
func mountAt(dir string) (Mount, bool) {
	source, ok := mountpoint.SourceOf(dir)
	if !ok || !filepath.IsAbs(source) {
		return Mount{}, false
	}
	path, err := registrationPath(source, dir)
	if err != nil {
		return Mount{}, false
	}
	return readMount(path, source)
}

// RepositoryAt returns the common directory of the repository whose sessions are mounted on a directory or on one above it.
func RepositoryAt(dir string) (commonDir string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if source, ok := mountpoint.SourceOf(dir); ok && filepath.IsAbs(source) {
			return source, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// readMount reads the note about a mount of the repository with the given common directory. It returns false if the note is
// incomplete, is being removed, or was written before a reboot.
func readMount(path, commonDir string) (Mount, bool) {
	if filepath.Ext(path) != "" {
		return Mount{}, false // a socket, not a note
	}
	data, err := os.ReadFile(path)
	var r registration
	if err != nil || json.Unmarshal(data, &r) != nil {
		return Mount{}, false
	}
	m := Mount{Dir: r.Dir, PID: r.PID, note: path}
	if served(path) {
		return m, true
	}
	source, mounted := mountpoint.SourceOf(r.Dir)
	m.Dead = mounted && source == commonDir
	return m, m.Dead
}

// served reports whether a process holds the lock of a note.
func served(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return atomicfile.TryLock(file) != nil
}

// awaitEnd waits until the server of an unmounted mount has created snapshots of all saves.
func (m Mount) awaitEnd(ctx context.Context) error {
	for served(m.note) {
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}
