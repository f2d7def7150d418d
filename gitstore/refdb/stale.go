package refdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// patience is the default of Refs.patience. Git usually holds its locks on references for milliseconds.
const patience = 3 * time.Second

// unlockDead removes the lock files that the dead git of a journal entry left.
func (r *Refs) unlockDead(ctx context.Context, e *entry) error {
	changes, prefixes := e.Changes, e.Prefixes
	if r.git.Reftable {
		changes, prefixes = nil, []string{tablesDir} // git also locks the tables that it merges
	}
	removals, _ := makeRoom(changes)
	for _, c := range slices.Concat(changes, keepers(removals)) {
		ours := func(content string) bool { return content == "" || strings.HasPrefix(c.New+"\n", content) }
		if err := r.unlockPath(ctx, r.lockOf(c.Ref), e.since, ours); err != nil {
			return err
		}
	}
	any := func(string) bool { return true }
	for _, prefix := range prefixes {
		locks, err := r.locksBelow(prefix)
		if err != nil {
			return err
		}
		for _, lock := range locks {
			if err := r.unlockPath(ctx, lock, e.since, any); err != nil {
				return err
			}
		}
	}
	for _, file := range e.Files {
		if err := r.unlockPath(ctx, file, e.since, any); err != nil {
			return err
		}
	}
	return r.unlockPacked(ctx, e.since)
}

// unlockStale removes lock files of the references in changes that no process uses. They have no journal file: it was lost
// in a power failure, or another program left them. The caller holds the repository's lock, so that no process of this
// program uses them. [Refs.unlockAbandoned] decides whether another program does.
func (r *Refs) unlockStale(ctx context.Context, changes []Change) error {
	for _, c := range changes {
		if err := r.unlockAbandoned(ctx, r.lockOf(c.Ref)); err != nil {
			return err
		}
	}
	return nil
}

// lockOf returns the path of the lock file that Git takes to change a reference.
func (r *Refs) lockOf(name string) string {
	if r.git.Reftable {
		return tablesList + ".lock"
	}
	return name + ".lock"
}

// unlockAbandoned removes a lock file that was written before the machine was started. It also removes one that has not
// changed for r.patience, unless a running git may hold it (see livingGit), for example while it waits for a hook or its
// user. It cannot see processes in other containers or on other machines.
func (r *Refs) unlockAbandoned(ctx context.Context, name string) error {
	path := r.path(name)
	var first time.Time
	return watch(ctx, path, func(info os.FileInfo, waited time.Duration) (bool, error) {
		written := info.ModTime()
		if first.IsZero() {
			first = written
		}
		old := written.Before(bootTime())
		if !written.Equal(first) || !old && r.livingGit(written) != nil {
			return true, nil // another process is using it
		}
		if !old && time.Since(written) <= r.patience && waited <= r.patience {
			return false, nil
		}
		if err := ignoreMissing(os.Remove(path)); err != nil {
			return true, readOnly("removing a lock file that no running process holds", err)
		}
		return true, nil
	})
}

// watch looks at a lock file every 20 milliseconds, until look says that it is done, or the file is gone or another one.
func watch(ctx context.Context, path string, look func(info os.FileInfo, waited time.Duration) (done bool, err error)) error {
	first, err := os.Lstat(path)
	if err != nil {
		return ignoreMissing(err)
	}
	for began := time.Now(); ; {
		info, err := os.Lstat(path)
		if err != nil {
			return ignoreMissing(err)
		}
		if !info.Mode().IsRegular() || !os.SameFile(first, info) {
			return nil
		}
		if done, err := look(info, time.Since(began)); done || err != nil {
			return ignoreMissing(err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// unlockPacked removes packed-refs.lock and packed-refs.new if a dead git left them. Git writes packed-refs.new while it
// holds the lock, and cannot do so while the file exists.
func (r *Refs) unlockPacked(ctx context.Context, since time.Time) error {
	empty := func(content string) bool { return content == "" }
	if err := r.unlockPath(ctx, "packed-refs.lock", since, empty); err != nil {
		return err
	}
	info, err := os.Lstat(r.path("packed-refs.new"))
	if err != nil || info.ModTime().Before(since) {
		return nil
	}
	// While this process holds Git's lock, no git writes packed-refs.new.
	lock, err := os.OpenFile(r.path("packed-refs.lock"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil // a running git has taken the lock since, and packed-refs.new is its own
	}
	if err != nil {
		return err
	}
	lock.Close()
	return errors.Join(ignoreMissing(os.Remove(r.path("packed-refs.new"))), os.Remove(lock.Name()))
}

// An owner is a running git that may hold a lock file.
type owner struct {
	name    string // for messages: `"git update-ref" (process 12)`
	lasting bool   // whether it may hold locks for longer than it takes to write a file
}

// unlockPath removes a lock file that a dead git left. It leaves a file that was modified before since or whose content is
// not ours, because another program wrote that. While a running git may hold the file, unlockPath waits for up to
// r.patience. After that it removes the file if that git holds locks for a short time only, and otherwise returns an error.
func (r *Refs) unlockPath(ctx context.Context, name string, since time.Time, ours func(content string) bool) error {
	path := r.path(name)
	return watch(ctx, path, func(info os.FileInfo, waited time.Duration) (bool, error) {
		content, err := readSmall(path)
		if err != nil || info.ModTime().Before(since) || !ours(string(content)) {
			return true, err
		}
		holder, late := r.livingGit(info.ModTime()), waited > r.patience
		switch {
		case holder == nil || late && !holder.lasting:
			return true, os.Remove(path)
		case late:
			return true, fmt.Errorf("%s may hold the lock file %q; wait for it or end it, then try again", holder.name, path)
		}
		return false, nil
	})
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		return nil
	}
	return err
}

// locksBelow returns the paths of the lock files that Git takes to change references below a directory ("refs/…/").
func (r *Refs) locksBelow(prefix string) ([]string, error) {
	if r.git.Reftable {
		prefix = tablesDir
	}
	var locks []string
	err := filepath.WalkDir(r.path(prefix), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() || !strings.HasSuffix(entry.Name(), ".lock"):
			return nil
		}
		name, err := filepath.Rel(r.common, path)
		locks = append(locks, filepath.ToSlash(name))
		return err
	})
	return locks, err
}
