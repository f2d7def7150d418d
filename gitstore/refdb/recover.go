package refdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Recover finishes or undoes what a process left half done when it died, and
// removes the lock files that its git left. Without such a process it reads one
// folder. While another process holds the repository's lock there is nothing to
// do: that one mends before it begins.
//
// It removes a lock file only when an unfinished journal names it, the journal's
// process and the git that it started are dead, the file is not older than the
// journal, its content is what that git would have written, and no living git
// works in the repository. Otherwise Recover waits a little and then says what is
// in the way. Lock files without a journal are left to [Refs.Update] and [Refs.Guard].
func (r *Refs) Recover(ctx context.Context) error {
	names, err := r.unfinished()
	if len(names) == 0 || err != nil {
		return err
	}
	release, ok, err := r.TryLock(ctx)
	if !ok || err != nil {
		return err
	}
	return release()
}

// recoverLocked is Recover for the holder of the lock.
func (r *Refs) recoverLocked(ctx context.Context) error {
	names, err := r.unfinished()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.mend(ctx, name); err != nil {
			return fmt.Errorf("mending what an interrupted command left: %w", err)
		}
	}
	if len(names) > 0 {
		return syncDir(r.journalDir())
	}
	return nil
}

// mend deals with one journal file.
func (r *Refs) mend(ctx context.Context, name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a claim that ended meanwhile
	}
	if err != nil {
		return readOnly("reading the journal", err)
	}
	e := &entry{file: file}
	data, err := io.ReadAll(io.LimitReader(file, maxJournal))
	if err != nil {
		file.Close()
		return err
	}
	rec, whole := parseJournal(data)
	e.record = rec
	ok, err := tryFlock(file)
	if err == nil && !ok {
		if whole && len(rec.Changes) == 0 {
			file.Close()
			return nil // a claim whose git is at work
		}
		// Its process is dead, as we hold the repository's lock, but not yet the
		// git that it started.
		err = flockContext(ctx, file)
		if err != nil {
			return err
		}
	} else if err != nil {
		file.Close()
		return err
	}
	info, err := file.Stat()
	if err != nil {
		e.leave()
		return err
	}
	e.since = info.ModTime()
	if whole {
		if _, err := r.settle(ctx, e); err != nil {
			e.leave()
			return err
		}
	}
	return e.end()
}
