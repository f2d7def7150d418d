package refdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// Recover finishes or undoes what a killed process left half done, and removes the lock files
// of its git. If there is nothing to do, it only reads one directory. If another process holds
// the repository's lock, Recover does nothing: the lock's holder has already recovered.
//
// It removes a lock file only if
//   - an unfinished journal names it,
//   - the process of the journal and the git that it started are dead,
//   - the file is not older than the journal,
//   - its content is what that git would have written, and
//   - no running git works in the repository.
//
// Otherwise Recover waits for a short time and then returns an error that names the
// obstacle. [Refs.Update] and [Refs.Guard] handle lock files without a journal.
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
		if err := r.repair(ctx, name); err != nil {
			return fmt.Errorf("repairing what an interrupted command left: %w", err)
		}
	}
	if len(names) > 0 {
		return atomicfile.SyncDir(r.journalDir())
	}
	return nil
}

// repair finishes or undoes the change of one journal file, and removes the file.
func (r *Refs) repair(ctx context.Context, name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a claim that has ended in the meantime
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
			return nil // a claim whose git is running
		}
		// Its process is dead, since we hold the repository's lock, but the git that it started is
		// still running.
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
