package gitcmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Git holds the lock of its configuration for milliseconds. One that is killed then
// leaves it for ever, and nobody else removes it. So a mark of its own stands beside the
// state of this program while a git of its own changes a setting, and is made new with each
// try: a lock that has not changed for long, and before which somebody made a mark and
// went no further, is that of the dead.
const (
	markPrefix     = "config-change-"
	configPatience = time.Second

	noConfigLock = 255 // the exit code of git-config(1) that has not got the lock
)

// changeConfig changes the repository's own configuration. It waits for others that do.
func (g *Git) changeConfig(ctx context.Context, args ...string) error {
	defer g.config.forget()
	mark := g.markChange()
	defer os.Remove(mark)
	lock := g.configLock()
	free := 0 // how often in a row there was no lock that somebody held
	for since := time.Now(); ; {
		now := time.Now()
		os.Chtimes(mark, now, now) // without a mark, git will say why nothing can be changed
		_, err := g.Run(ctx, nil, append([]string{"config", "--local"}, args...)...)
		if err == nil {
			g.removeMarks()
			return nil
		}
		var failed *Error
		if !errors.As(err, &failed) || failed.Code != noConfigLock || time.Since(since) > 5*configPatience {
			return err
		}
		held, gone := os.Lstat(lock)
		if gone == nil {
			free = 0
		} else if free++; free == 3 { // else it went after git had found it, perhaps
			return err
		}
		if gone == nil && time.Since(held.ModTime()) > configPatience && g.isAbandoned(held) {
			if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// configLock is the file that git makes while it changes the configuration.
func (g *Git) configLock() string {
	path := filepath.Join(g.CommonDir, "config")
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path + ".lock"
}

// markChange makes a mark; "" where none can be made.
func (g *Git) markChange() string {
	f, err := os.CreateTemp(g.StateDir(), markPrefix)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(g.StateDir(), 0o700) == nil {
		f, err = os.CreateTemp(g.StateDir(), markPrefix)
	}
	if err != nil {
		return ""
	}
	f.Close()
	return f.Name()
}

// abandoned returns the marks of processes that were killed, by name.
func (g *Git) abandoned() map[string]fs.FileInfo {
	entries, err := os.ReadDir(g.StateDir())
	if err != nil {
		return nil
	}
	found := map[string]fs.FileInfo{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), markPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > configPatience {
			found[filepath.Join(g.StateDir(), e.Name())] = info
		}
	}
	return found
}

// isAbandoned reports whether a lock can be one that a killed git of this program's left.
func (g *Git) isAbandoned(lock fs.FileInfo) bool {
	for _, mark := range g.abandoned() {
		if !mark.ModTime().After(lock.ModTime()) {
			return true
		}
	}
	return false
}

// removeMarks removes those of killed processes: now that a setting was changed, there is
// no lock of theirs.
func (g *Git) removeMarks() {
	for name := range g.abandoned() {
		os.Remove(name)
	}
}
