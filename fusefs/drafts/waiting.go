package drafts

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// Waiting is an acknowledged save or removal that did not change its session yet.
type Waiting struct {
	Name  string // of the session
	Owner int    // process that has the journal, or 0
	Alive bool   // whether that process runs
}

// ListWaiting returns the waiting saves and removals in a directory of journals, by
// journal and in the order of their creation. It reads no saved bytes and skips damaged
// drafts. A missing directory has none.
func ListWaiting(dir string) ([]Waiting, error) {
	journals, err := journalsIn(dir)
	if err != nil {
		return nil, err
	}
	var all []Waiting
	for _, path := range journals {
		files, err := draftsIn(path)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, file := range files {
			if h, err := headerOf(file); err == nil && (h.State == Saved || h.State == Removed) {
				names = append(names, h.Name)
			}
		}
		if len(names) == 0 {
			continue
		}
		pid, live := holder(path)
		for _, name := range names {
			all = append(all, Waiting{name, pid, live})
		}
	}
	return all, nil
}

// headerOf reads the header of a draft without its data.
func headerOf(file string) (header, error) {
	f, err := os.Open(file)
	if err != nil {
		return header{}, err
	}
	defer f.Close()
	return readHeader(bufio.NewReader(io.LimitReader(f, 1<<20)))
}

// holder returns the process that has a journal, and whether it runs. It takes the lock of
// a dead process for a moment; a process that is adopting the journal then retries.
func holder(journal string) (pid int, live bool) {
	lock, err := os.OpenFile(filepath.Join(journal, lockName), os.O_RDWR, 0)
	if err != nil {
		return 0, false
	}
	defer lock.Close()
	pid = owner(lock)
	err = atomicfile.TryLock(lock)
	return pid, errors.Is(err, atomicfile.ErrLocked) || err != nil && atomicfile.IsAlive(pid)
}
