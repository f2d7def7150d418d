package sources

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// The names in the directory of a record, besides a file for each group.
const (
	sessionsFile = "sessions" // the index of sessions
	newDir       = "new"      // the directory of unfinished files
)

// hash returns a fixed-length file name for a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// fileOf returns the name of the file with a group, given the first line of its keys.
func fileOf(first string) string { return hash(first) + ".json" }

// read reads a group. It returns nil if the group's file is missing or damaged.
func (s *Record) read(name string) (map[string]Source, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of imports: %w", err)
	}
	var byKey map[string]Source
	if json.Unmarshal(data, &byKey) != nil {
		return nil, nil
	}
	return byKey, nil
}

// loadFile reads the group in a file.
func (s *Record) loadFile(name string) error {
	byKey, err := s.read(name)
	for key := range byKey {
		s.of(key)
		break
	}
	return err
}

// load reads all groups with records of a session, and possibly others.
func (s *Record) load(session string) error {
	index, err := os.ReadFile(filepath.Join(s.dir, sessionsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s.loadAll()
	}
	if err != nil {
		return fmt.Errorf("reading the record of imports: %w", err)
	}
	start := []byte(hash(session) + " ")
	for line := range bytes.Lines(index) {
		name, ok := bytes.CutPrefix(line, start)
		if !ok {
			continue
		}
		if err := s.loadFile(string(bytes.TrimSpace(name))); err != nil {
			return err
		}
	}
	return nil
}

// loadAll reads all groups.
func (s *Record) loadAll() error {
	files, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the record of imports: %w", err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		if err := s.loadFile(f.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Save writes the changed records durably. It must be called within the update of the store, before the sessions move: the
// record of a move that did not happen is detected later, but a missing record is not.
func (s *Record) Save() error {
	if s.err != nil {
		return s.err
	}
	dirty := map[string]*group{}
	for first, g := range s.groups {
		if g.dirty {
			dirty[first] = g
		}
	}
	if len(dirty) == 0 {
		return nil
	}
	if err := s.write(dirty); err != nil {
		return fmt.Errorf("writing the record of imports: %w", err)
	}
	return nil
}

// write writes groups to files. It completes all new files before it replaces the first old one.
func (s *Record) write(groups map[string]*group) error {
	aside := filepath.Join(s.dir, newDir)
	if err := atomicfile.MkdirAll(aside, 0o700); err != nil {
		return err
	}
	if err := s.writeSessions(groups); err != nil {
		return err
	}
	files := slices.Sorted(maps.Keys(groups))
	for _, first := range files {
		data, err := json.Marshal(groups[first].byKey)
		if err == nil {
			err = os.WriteFile(filepath.Join(aside, fileOf(first)), data, 0o600) // replaces one that a killed process left
		}
		if err != nil {
			return err
		}
	}
	if err := sync(aside, files); err != nil {
		return err
	}
	for _, first := range files {
		if err := os.Rename(filepath.Join(aside, fileOf(first)), filepath.Join(s.dir, fileOf(first))); err != nil {
			return err
		}
		groups[first].dirty = false
	}
	return atomicfile.SyncDir(s.dir)
}

// sync makes files durable: a few one by one, and many all at once if the system supports that.
func sync(dir string, firsts []string) error {
	const few = 8
	if len(firsts) > few {
		if err := atomicfile.SyncFS(dir); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	for _, first := range firsts {
		f, err := os.OpenFile(filepath.Join(dir, fileOf(first)), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// writeSessions appends to the index the groups that contain records of each session. It runs before the groups are written,
// so the index may list too many groups for a session, but never too few.
func (s *Record) writeSessions(groups map[string]*group) error {
	path := filepath.Join(s.dir, sessionsFile)
	_, err := os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		if err := s.loadAll(); err != nil {
			return err
		}
		groups = s.groups
	}
	var lines []byte
	for first, g := range groups {
		for _, source := range g.byKey {
			if isNew || !g.known[source.Session] {
				g.known[source.Session] = true
				lines = append(lines, hash(source.Session)+" "+fileOf(first)+"\n"...)
			}
		}
	}
	if lines == nil {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte("\n"), lines...)) // a killed process may have left an incomplete line
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil && isNew {
		err = atomicfile.SyncDir(s.dir)
	}
	return err
}
