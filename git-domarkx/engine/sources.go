package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A source is what is remembered of a document that was imported here.
type source struct {
	Session  string `json:"session"`
	Snapshot string `json:"snapshot"`        // the one that its last import made
	Digest   string `json:"digest"`          // SHA-256 of the document and what it includes, in hexadecimal
	Saved    int64  `json:"saved,omitempty"` // when the document was saved, in milliseconds since 1970
	// Growth tells how to read what the document grows by; nil when it must be read anew.
	Growth *growth `json:"growth,omitempty"`
	// Beside are the files that the document's messages name ([format.Companions]), by
	// path.
	Beside map[string]besideFile `json:"beside,omitempty"`
	// Before is what was remembered before. It still holds when the sessions were
	// not moved after this was written, because somebody killed the import.
	Before *source `json:"before,omitempty"`
}

// sources remembers, on this machine, which session which file became: by the
// file's absolute path, or "-:NAME" for a document from standard input, or what the
// document says of itself ([format.Identity]) behind the name of its format. It is a
// help, not the truth: without it a file is recognised by the session's name and
// source_file.
type sources struct {
	path   string
	byPath map[string]source
	dirty  bool

	suffixes map[string]map[string]bool // of branches, by the key of their document; see branchKey
}

// branchKey is the key of a branch of a document.
func branchKey(document, suffix string) string { return document + "\n" + suffix }

// index notes which branches a key may be of. No session's name begins with the dot of a
// suffix.
func (s *sources) index(key string) {
	for at := range key {
		if !strings.HasPrefix(key[at:], "\n.") {
			continue
		}
		suffix, _, _ := strings.Cut(key[at+1:], "\n")
		if s.suffixes[key[:at]] == nil {
			s.suffixes[key[:at]] = map[string]bool{}
		}
		s.suffixes[key[:at]][suffix] = true
	}
}

// branches returns the suffixes of the branches that a document had.
func (s *sources) branches(document string) []string {
	return slices.Sorted(maps.Keys(s.suffixes[document]))
}

// hasKey reports whether a document is known, under whatever name the user gave it.
func (s *sources) hasKey(key string) bool {
	for known := range s.byPath {
		if rest, ok := strings.CutPrefix(known, key); ok && (rest == "" || rest[0] == '\n') {
			return true
		}
	}
	return false
}

func openSources(stateDir string) (*sources, error) {
	s := &sources{path: filepath.Join(stateDir, "sources.json"), byPath: map[string]source{}, suffixes: map[string]map[string]bool{}}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of imports: %w", err)
	}
	if json.Unmarshal(data, &s.byPath) != nil {
		s.byPath = map[string]source{} // damaged: as good as lost
	}
	for key := range s.byPath {
		s.index(key)
	}
	return s, nil
}

// set remembers a document instead of before, which is what held until now.
func (s *sources) set(path string, now, before source) {
	now.Before, before.Before = nil, nil
	if old := s.byPath[path]; old.Session == now.Session && old.Snapshot == now.Snapshot && old.Digest == now.Digest && old.Saved == now.Saved &&
		maps.Equal(old.Beside, now.Beside) {
		return
	}
	if before.Session != "" {
		now.Before = &before
	}
	s.byPath[path], s.dirty = now, true
	s.index(path)
}

// save belongs into the update that it tells of, before the sessions move: what is
// remembered of a move that did not happen is recognised, one that is missing not.
func (s *sources) save() error {
	if !s.dirty {
		return nil
	}
	data, err := json.MarshalIndent(s.byPath, "", " ")
	if err != nil {
		return err
	}
	if err := replaceFile(s.path, data); err != nil {
		return fmt.Errorf("writing the record of imports: %w", err)
	}
	s.dirty = false
	return nil
}

// sourceRenamed makes the files of a session follow its new name.
func (m *SessionManager) sourceRenamed(from, to string) error {
	s, err := openSources(m.around.StateDir)
	if err != nil {
		return err
	}
	for path, src := range s.byPath {
		if src.Session == from {
			moved := src
			moved.Session = to
			s.set(path, moved, src)
		}
	}
	return s.save()
}
