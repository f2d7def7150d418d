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

// Recover finishes or undoes the changes of killed processes, and removes the lock files of the git that they started. If
// there are none, it only reads one directory. If another process holds the repository's lock, Recover does nothing, since
// that process has already recovered.
//
// Recover removes a lock file only if
//   - a journal file names it, or the directory that contains it,
//   - the process that wrote the journal file and the git that it started have ended,
//   - the lock file is not older than the journal file,
//   - its content is what that git would have written, and
//   - no running git may hold it.
//
// If a running git may hold it, Recover waits for some seconds. If that git may hold locks for long, Recover then returns an
// error that names the process; otherwise it removes the file.
//
// Lock files without a journal file are left to [Refs.Update] and [Refs.Guard].
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

// recoverLocked repairs what all journal files describe. The caller holds the repository's lock.
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
		return nil // the file of a claim, whose process has removed it since
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
	err = atomicfile.TryLock(file)
	if errors.Is(err, atomicfile.ErrLocked) {
		if whole && len(rec.Changes) == 0 {
			file.Close()
			return nil // a claim whose git is running
		}
		// The process that wrote the file has ended, since this process holds the repository's lock. The git that it started
		// is still running.
		err = atomicfile.Lock(ctx, file)
	}
	if err != nil {
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
