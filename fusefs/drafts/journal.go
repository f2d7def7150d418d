package drafts

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const (
	suffix = ".draft"
	aside  = atomicfile.TempPrefix // prefix of temporary files
)

// A Journal holds the drafts of one process and those that it adopted. Its methods may be
// called concurrently, except for the same key.
type Journal struct {
	dir  string // directory of all journals
	own  directory
	over []directory // adopted from dead processes

	mu   sync.Mutex
	next uint64
}

// A directory is one journal on the disk. Its process holds the lock.
type directory struct {
	path string
	lock *os.File
}

// Open creates an empty journal in a directory, which it creates with mode 0700 if needed.
func Open(dir string) (*Journal, error) {
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of drafts: %w", err)
	}
	name := strings.ToLower(rand.Text())
	made := filepath.Join(dir, aside+name)
	if err := os.Mkdir(made, 0o700); err != nil {
		return nil, fmt.Errorf("creating a journal of drafts: %w", err)
	}
	// The journal gets its name only when it is locked, so that no process adopts it.
	lock, err := takeLock(made)
	if err == nil {
		path := filepath.Join(dir, name)
		if err = os.Rename(made, path); err == nil {
			if err = atomicfile.SyncDir(dir); err == nil {
				return &Journal{dir: dir, own: directory{path, lock}, next: 1}, nil
			}
		}
		lock.Close()
	}
	os.RemoveAll(made)
	return nil, fmt.Errorf("creating a journal of drafts: %w", err)
}

// Put stores a draft durably and returns its key. It replaces the draft with the same
// key; a draft without a key gets a new one.
func (j *Journal) Put(d Draft) (key string, err error) {
	if d.Key == "" {
		d.Key = j.newKey()
	}
	data, err := Encode(d)
	if err != nil {
		return "", err
	}
	if err := atomicfile.Replace(j.file(d.Key), data); err != nil {
		return "", fmt.Errorf("storing a save of %q: %w", d.Name, err)
	}
	return d.Key, nil
}

// newKey returns a new key: the name of this process's journal and a number above those
// of all drafts that the journal knows.
func (j *Journal) newKey() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := fmt.Sprintf("%s/%012d", filepath.Base(j.own.path), j.next)
	j.next++
	return key
}

func (j *Journal) file(key string) string {
	return filepath.Join(j.dir, filepath.FromSlash(key)+suffix)
}

// Delete deletes drafts durably. Missing drafts are not an error.
func (j *Journal) Delete(keys ...string) error {
	var errs []error
	dirs := map[string]bool{}
	for _, key := range keys {
		err := os.Remove(j.file(key))
		if err == nil {
			dirs[filepath.Dir(j.file(key))] = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for dir := range dirs {
		errs = append(errs, atomicfile.SyncDir(dir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("deleting a draft: %w", err)
	}
	return nil
}

// Adopt takes over the journals of dead processes, and returns their drafts in the order
// of their creation. It writes nothing, so the next process finds them again if this one
// dies. It leaves damaged files in place and names them in the error, but still returns
// the drafts.
func (j *Journal) Adopt() ([]Draft, error) {
	paths, err := journalsIn(j.dir)
	if err != nil {
		return nil, err
	}
	var found [][]Draft
	var bad []error
	for _, path := range paths {
		if path == j.own.path || slices.ContainsFunc(j.over, func(f directory) bool { return f.path == path }) {
			continue
		}
		drafts, err := j.adopt(path)
		if err != nil {
			bad = append(bad, err)
		}
		if len(drafts) > 0 {
			found = append(found, drafts)
		}
	}
	// A process that adopts drafts gives its own drafts higher numbers.
	slices.SortStableFunc(found, func(a, b []Draft) int { return cmp.Compare(number(a[0].Key), number(b[0].Key)) })
	all := slices.Concat(found...)
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, d := range all {
		j.next = max(j.next, number(d.Key)+1)
	}
	return all, errors.Join(bad...)
}

// adopt takes over one journal unless its process lives.
func (j *Journal) adopt(path string) ([]Draft, error) {
	lock, err := takeLock(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, atomicfile.ErrLocked) {
		return nil, nil // its owner has removed it, or lives
	}
	if err != nil {
		return nil, fmt.Errorf("taking over a journal of drafts: %w", err)
	}
	found, bad := read(path)
	f := directory{path, lock}
	if len(found) == 0 && bad == nil {
		return nil, f.leave()
	}
	j.over = append(j.over, f)
	return found, bad
}

// number returns the number in a key, or 0 if Put did not create the key.
func number(key string) uint64 {
	_, digits, _ := strings.Cut(key, "/")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Close ends the journal and unlocks it. The next [Journal.Adopt] finds the remaining
// drafts.
func (j *Journal) Close() error {
	var errs []error
	for _, f := range append(j.over, j.own) {
		errs = append(errs, f.leave())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the journal of drafts: %w", err)
	}
	return nil
}

// leave removes an empty journal and releases its lock.
func (f directory) leave() error {
	left, err := draftsIn(f.path)
	if err == nil && len(left) == 0 {
		os.RemoveAll(f.path) // may fail while another process reads it, which then removes it
	}
	return errors.Join(err, f.lock.Close())
}

// draftsIn returns the paths of the drafts in a journal, sorted. A journal whose owner has removed it has none.
func draftsIn(journal string) ([]string, error) {
	entries, err := os.ReadDir(journal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading a journal of drafts: %w", err)
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && !strings.HasPrefix(e.Name(), aside) && e.Type().IsRegular() {
			files = append(files, filepath.Join(journal, e.Name()))
		}
	}
	return files, nil
}

// List returns all drafts in a directory of journals, of live and dead processes, by
// journal and in the order of their creation. It skips damaged drafts and names them in
// the error, which is [domarkx.ErrCorrupt] or [domarkx.ErrUnsupported]. A missing
// directory has no drafts.
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

// IsDamage reports whether an error of [List] means that drafts are damaged or of a later version.
func IsDamage(err error) bool {
	return errors.Is(err, domarkx.ErrCorrupt) || errors.Is(err, domarkx.ErrUnsupported)
}

// Discard durably deletes the drafts with these keys that dead processes left. It returns
// the keys of those that running processes have. Missing drafts are not an error, and damaged
// ones stay.
func Discard(dir string, keys ...string) (inUse []string, err error) {
	j, err := Open(dir)
	if err != nil {
		return nil, err
	}
	found, err := j.Adopt()
	if IsDamage(err) {
		err = nil
	}
	for _, key := range keys {
		if slices.ContainsFunc(found, func(d Draft) bool { return d.Key == key }) {
			err = errors.Join(err, j.Delete(key))
		} else if _, missing := os.Lstat(j.file(key)); missing == nil {
			inUse = append(inUse, key)
		}
	}
	return inUse, errors.Join(err, j.Close())
}

func journalsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the directory of drafts: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), aside) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// read returns the drafts of one journal, sorted by key.
func read(path string) ([]Draft, error) {
	files, err := draftsIn(path)
	if err != nil {
		return nil, err
	}
	var found []Draft
	var bad []error
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its owner has deleted it
		}
		var d Draft
		if err == nil {
			d, err = Decode(data)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("draft %q: %w", file, err))
			continue
		}
		d.Key = filepath.Base(path) + "/" + strings.TrimSuffix(filepath.Base(file), suffix)
		found = append(found, d)
	}
	return found, errors.Join(bad...)
}
