package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/domarkx/domarkx"
)

// A barrier is a way to make a group of new small files durable. POSIX offers one
// fsync per file and directory, which costs a turn more than everything else
// together; many file systems can do with less.
type barrier int

const (
	// byFile syncs each file, then, after all have their names, each directory.
	byFile barrier = iota
	// byJournal is for a file system with one journal for everything. The content of
	// each file is written back and waited for, the files get their names, and one
	// fsync of the last directory commits the journal with all of it. A name never
	// becomes durable before its content: the journal keeps their order, and the
	// disk's cache is flushed before it commits.
	byJournal
	// bySuperblock syncs the whole file system, before the files get their names and
	// after.
	bySuperblock
)

// barrier returns the way that suits the object directory's file system.
func (d *Database) barrier() barrier {
	d.chooseBarrier.Do(func() { d.chosenBarrier = barrierFor(d.dirs[0]) })
	return d.chosenBarrier
}

// syncContent makes the content of files durable before they get their names, or
// sees to it that syncNames will.
func (d *Database) syncContent(files []newFile) error {
	if len(files) == 0 {
		return nil
	}
	b := d.barrier()
	if b == byFile || len(files) == 1 {
		return parallel(len(files), func(i int) error {
			return writeError("sync object", files[i].f.Sync())
		})
	}
	for _, wait := range []bool{false, true} {
		for _, f := range files {
			if err := writeBack(f.f, wait); err != nil {
				return writeError("sync object", err)
			}
		}
	}
	if b == bySuperblock {
		return writeError("sync objects", syncSuperblock(d.dirs[0]))
	}
	return nil
}

// syncNames makes durable what was renamed into directories inside the object
// directory, in that order.
func (d *Database) syncNames(dirs []string) error {
	switch {
	case len(dirs) == 0:
		return nil
	case d.barrier() == byJournal:
		// The last one: its transaction comes after all others.
		return writeError("sync object directory", syncDir(dirs[len(dirs)-1]))
	case d.barrier() == bySuperblock:
		return writeError("sync object directories", syncSuperblock(d.dirs[0]))
	}
	dirs = append(dirs, d.dirs[0]) // some may be new
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	return parallel(len(dirs), func(i int) error {
		return writeError("sync object directory", syncDir(dirs[i]))
	})
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil // a file system that has nothing to sync in a directory
	}
	return err
}

// maxSyncs is how many files are synced at once: enough for a journal to commit
// them together.
const maxSyncs = 32

// parallel calls f with 0 to n-1, and returns the errors.
func parallel(n int, f func(int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	tokens := make(chan struct{}, maxSyncs)
	for i := range n {
		tokens <- struct{}{}
		group.Go(func() {
			errs[i] = f(i)
			<-tokens
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// writeError wraps an error of the file system so that a repository that takes no
// writes is [domarkx.ErrReadOnly].
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
