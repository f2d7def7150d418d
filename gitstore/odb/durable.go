package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
)

// An fsyncMode is a way to make the files of a pack durable. POSIX requires an fsync of each file and one of their
// directory. Each of these may flush the disk's cache.
type fsyncMode int

const (
	// byFile syncs each file before it gets its name, and then the directory.
	byFile fsyncMode = iota
	// byJournal is for file systems with one journal for all files. The contents of all files are written to the disk,
	// the files get their names, and then one fsync of the directory commits the journal. A name never becomes durable
	// before its file's content: the journal keeps the order, and the fsync flushes the disk's cache before it commits
	// the journal.
	byJournal
)

// fsyncMode returns the mode for the file system of the object directory.
func (d *Database) fsyncMode() fsyncMode {
	d.chooseFsyncMode.Do(func() { d.chosenFsyncMode = fsyncModeFor(d.dirs[0]) })
	return d.chosenFsyncMode
}

// syncContent makes the contents of files durable before they get their names. In mode byJournal,
// the later sync of the directory completes that.
func (d *Database) syncContent(files ...newFile) error {
	if d.fsyncMode() == byFile {
		return parallel(len(files), func(i int) error {
			return writeError("sync pack", files[i].f.Sync())
		})
	}
	for _, wait := range []bool{false, true} {
		for _, f := range files {
			if err := writeBack(f.f, wait); err != nil {
				return writeError("sync pack", err)
			}
		}
	}
	return nil
}

// parallel calls f with the numbers from 0 to n-1 concurrently, and returns their errors, joined.
func parallel(n int, f func(int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = f(i) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// writeError wraps an error of the file system. The result is also [domarkx.ErrReadOnly] if the repository is not
// writable.
func writeError(what string, err error) error {
	if err == nil {
		return nil
	}
	var path *os.PathError
	var link *os.LinkError
	where := ""
	switch {
	case errors.As(err, &path):
		where, err = filepath.Dir(path.Path), path.Err
	case errors.As(err, &link):
		where, err = filepath.Dir(link.New), link.Err
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%s in %q: %w repository: %w", what, where, domarkx.ErrReadOnly, err)
	}
	return fmt.Errorf("%s in %q: %w", what, where, err)
}
