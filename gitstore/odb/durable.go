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

// Durability of many small files at once. POSIX offers one fsync per file and
// directory. Where the file system has one journal for all (ext4 with a journal,
// XFS), a group costs one: the content of each file is written back and waited
// for, the files get their names, and a single fsync commits the journal with all
// of it; a name never becomes durable before the content, because the journal
// keeps their order and flushes the disk's cache before it commits. Everywhere
// else each file and directory gets its own fsync, all in parallel.

// syncContent makes the content of files durable before they get their names, or
// sees to it that syncNames will.
func (d *Database) syncContent(files []newFile) error {
	if len(files) == 0 {
		return nil
	}
	if len(files) == 1 || !d.oneSync() {
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
	return nil
}

// syncNames makes durable what was renamed into directories inside the object
// directory, in that order.
func (d *Database) syncNames(objects string, dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	if d.oneSync() {
		// The last one: its transaction comes after all others.
		return writeError("sync object directory", syncDir(dirs[len(dirs)-1]))
	}
	dirs = append(dirs, objects) // some may be new
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	return parallel(len(dirs), func(i int) error {
		return writeError("sync object directory", syncDir(dirs[i]))
	})
}

// oneSync reports whether one fsync commits everything written before.
func (d *Database) oneSync() bool {
	d.journal.Do(func() { d.oneSyncDoes = oneJournal(d.dirs[0]) })
	return d.oneSyncDoes
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
