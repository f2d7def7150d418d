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

// Waiting is a save or a removal that was acknowledged and is not in its session yet.
type Waiting struct {
	Name  string // of the session
	Owner int    // the process that has the journal, 0 when unknown
	Alive bool   // that process runs
}

// ListWaiting returns what the drafts in a folder of journals wait for, by journal and
// in the order they were made. It reads no saved bytes. Damaged drafts are left out. A
// folder that does not exist holds none.
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

// waitingIn returns the sessions that a journal has a save or a removal of.
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
		return header{}, errors.Join(err, errors.New("no draft of this version"))
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return header{}, err
	}
	var h header
	return h, json.Unmarshal(line, &h)
}

// holder returns the process that has a journal, and whether it still runs. The lock of
// one that does not is taken for a moment; a process that is taking the journal over then
// tries again.
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
