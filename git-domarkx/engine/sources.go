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

	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// A source records an imported document.
type source struct {
	Session  string `json:"session"`
	Snapshot string `json:"snapshot"`        // created by the last import
	Digest   string `json:"digest"`          // SHA-256 of the document and its includes, in hexadecimal
	Saved    int64  `json:"saved,omitempty"` // when the document was saved, in milliseconds since 1970
	// Growth describes how to continue reading the document; nil if it must be read in full.
	Growth *growth `json:"growth,omitempty"`
	// Beside holds the files that the document's messages name ([format.Companions]), by path.
	Beside map[string]besideFile `json:"beside,omitempty"`
	// Before is the previous record. It is still valid if the import was killed before the
	// sessions moved.
	Before *source `json:"before,omitempty"`
}

// sources records which documents became which sessions on this machine. The key is the absolute
// path of the file, "-:NAME" for standard input, or the format name and the document's identity
// ([format.Identity]). It is only a cache: without it, a document is recognized by its session's
// name and source_file.
type sources struct {
	path   string
	byPath map[string]source
	dirty  bool

	suffixes map[string]map[string]bool // suffixes of branches, by the key of their document; see branchKey
}

// branchKey returns the key of a branch of a document.
func branchKey(document, suffix string) string { return document + "\n" + suffix }

// index adds the branches that a key may denote. Suffixes start with a dot, and session names do
// not.
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

// branches returns the suffixes of a document's known branches.
func (s *sources) branches(document string) []string {
	return slices.Sorted(maps.Keys(s.suffixes[document]))
}

// hasKey reports whether a document is known under any name that the user gave it.
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
		s.byPath = map[string]source{} // damaged: treat it as missing
	}
	for key := range s.byPath {
		s.index(key)
	}
	return s, nil
}

// set replaces the record of a document. before is the record that was valid until now.
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

// save must be called within the update, before the sessions move. A record of a move that did
// not happen is detected later, but a missing record is not.
func (s *sources) save() error {
	if !s.dirty {
		return nil
	}
	data, err := json.MarshalIndent(s.byPath, "", " ")
	if err != nil {
		return err
	}
	if err := local.Replace(s.path, data); err != nil {
		return fmt.Errorf("writing the record of imports: %w", err)
	}
	s.dirty = false
	return nil
}

// SourceRenamed changes the records of a session's files to its new name.
func (m *SessionManager) SourceRenamed(from, to string) error {
	s, err := openSources(m.env.StateDir)
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
