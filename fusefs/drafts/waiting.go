package drafts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
		names, err := waitingIn(path)
		if err != nil {
			return nil, err
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

// waitingIn returns the sessions with waiting saves or removals in one journal.
func waitingIn(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // its owner ended
	}
	if err != nil {
		return nil, fmt.Errorf("reading a journal of drafts: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !isDraft(e) || !e.Type().IsRegular() {
			continue
		}
		h, err := readHeader(filepath.Join(path, e.Name()))
		if err == nil && (h.State == Saved || h.State == Removed) {
			names = append(names, h.Name)
		}
	}
	return names, nil
}

// readHeader reads the header of a draft without its data.
func readHeader(file string) (header, error) {
	f, err := os.Open(file)
	if err != nil {
		return header{}, err
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, 1<<20))
	first := make([]byte, len(magic))
	if _, err := io.ReadFull(r, first); err != nil || !bytes.Equal(first, []byte(magic)) {
		return header{}, errors.Join(err, errors.New("not a draft of this format version"))
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return header{}, err
	}
	var h header
	return h, json.Unmarshal(line, &h)
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
	return pid, errors.Is(err, atomicfile.ErrLocked) || err != nil && alive(pid)
}
