package drafts

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	lockName = "lock"
	suffix   = ".draft"
	aside    = ".new-" // begins the name of what is still being written
)

// A Journal holds the drafts of one process. Its methods may be called by
// several goroutines at once, but those on one key not.
type Journal struct {
	dir  string // of all journals
	path string // of this one
	lock *os.File

	mu   sync.Mutex
	next uint64
}

// Open makes a new, empty journal in a folder, which is made when it is not
// there, with mode 0700.
func Open(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of drafts: %w", err)
	}
	name := strings.ToLower(rand.Text())
	made := filepath.Join(dir, aside+name)
	if err := os.Mkdir(made, 0o700); err != nil {
		return nil, fmt.Errorf("making a journal of drafts: %w", err)
	}
	// It gets its name when it is locked: nobody takes it for a dead one.
	lock, err := os.OpenFile(filepath.Join(made, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		if err = flock(lock); err == nil {
			path := filepath.Join(dir, name)
			if err = os.Rename(made, path); err == nil {
				if err = syncDir(dir); err == nil {
					return &Journal{dir: dir, path: path, lock: lock, next: 1}, nil
				}
			}
		}
		lock.Close()
	}
	os.RemoveAll(made)
	return nil, fmt.Errorf("making a journal of drafts: %w", err)
}

// Put stores a draft durably, in the place of the one with the same key, and
// returns its key.
func (j *Journal) Put(d Draft) (key string, err error) {
	if d.Key == "" {
		d.Key = j.newKey()
	}
	data, err := Encode(d)
	if err != nil {
		return "", err
	}
	if err := writeDurably(j.path, d.Key+suffix, data); err != nil {
		return "", fmt.Errorf("keeping what was saved to %q: %w", d.Name, err)
	}
	return d.Key, nil
}

func (j *Journal) newKey() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := fmt.Sprintf("%012d", j.next)
	j.next++
	return key
}

// Delete removes a draft durably. One that is not there is no error.
func (j *Journal) Delete(key string) error {
	err := os.Remove(filepath.Join(j.path, key+suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = syncDir(j.path)
	}
	if err != nil {
		return fmt.Errorf("removing a draft: %w", err)
	}
	return nil
}

// Adopt takes the drafts that dead processes left into this journal, and returns
// them in the order they were made, with their new keys. Files that are no drafts
// are left where they are; the error says which, and the drafts are returned
// nevertheless.
func (j *Journal) Adopt() ([]Draft, error) {
	journals, err := journalsIn(j.dir)
	if err != nil {
		return nil, err
	}
	var all []Draft
	var bad []error
	for _, path := range journals {
		if path == j.path {
			continue
		}
		found, err := j.adopt(path)
		all = append(all, found...)
		if err != nil {
			bad = append(bad, err)
		}
	}
	return all, errors.Join(bad...)
}

func (j *Journal) adopt(path string) ([]Draft, error) {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // its owner removed it meanwhile
	}
	if err != nil {
		return nil, fmt.Errorf("locking a journal of drafts: %w", err)
	}
	defer lock.Close()
	if err := flock(lock); err != nil {
		return nil, nil // its process lives
	}
	found, bad := read(path)
	keys := make(map[string]string, len(found)) // old -> new
	for i := range found {
		d := &found[i]
		old := d.Key
		d.Key, d.After = "", keys[d.After]
		if d.Key, err = j.Put(*d); err != nil {
			return found[:i], errors.Join(bad, err)
		}
		keys[old] = d.Key
		if err := os.Remove(filepath.Join(path, old+suffix)); err != nil {
			return found[:i+1], errors.Join(bad, fmt.Errorf("taking over a draft: %w", err))
		}
	}
	if bad == nil {
		os.RemoveAll(path)
	}
	return found, bad
}

// Close ends the journal. Drafts that are left in it wait for [Journal.Adopt].
func (j *Journal) Close() error {
	names, err := filepath.Glob(filepath.Join(j.path, "*"+suffix))
	if err == nil && len(names) == 0 {
		err = os.RemoveAll(j.path)
	}
	if cerr := j.lock.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("closing the journal of drafts: %w", err)
	}
	return nil
}

// List returns all drafts in a folder of journals, of live and dead processes, by
// journal and in the order they were made. Damaged ones are left out and named by
// the error, which is [domarkx.ErrCorrupt] or [domarkx.ErrUnsupported]; the others
// are returned nevertheless. A folder that is not there holds none.
func List(dir string) ([]Draft, error) {
	journals, err := journalsIn(dir)
	if err != nil {
		return nil, err
	}
	var all []Draft
	var bad []error
	for _, path := range journals {
		found, err := read(path)
		all = append(all, found...)
		if err != nil {
			bad = append(bad, err)
		}
	}
	return all, errors.Join(bad...)
}

// Discard removes the drafts of a session that dead processes left, durably.
func Discard(dir, name string) error {
	j, err := Open(dir)
	if err != nil {
		return err
	}
	found, err := j.Adopt()
	for _, d := range found {
		if d.Name == name {
			err = errors.Join(err, j.Delete(d.Key))
		}
	}
	return errors.Join(err, j.Close())
}

func journalsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the folder of drafts: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), aside) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// read returns the drafts of one journal, by key.
func read(path string) ([]Draft, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a journal of drafts: %w", err)
	}
	var found []Draft
	var bad []error
	for _, e := range entries {
		key, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || strings.HasPrefix(key, aside) || !e.Type().IsRegular() {
			continue
		}
		file := filepath.Join(path, e.Name())
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its owner is done with it
		}
		var d Draft
		if err == nil {
			d, err = Decode(data)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("draft %q: %w", file, err))
			continue
		}
		d.Key = key
		found = append(found, d)
	}
	return found, errors.Join(bad...)
}

// writeDurably writes a file aside, syncs it, gives it its name and syncs the folder.
func writeDurably(dir, name string, data []byte) error {
	tmp := filepath.Join(dir, aside+name)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(tmp)
		return err
	}
	return syncDir(dir)
}
