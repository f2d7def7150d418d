// Package sources records which documents became which sessions on this machine, so that importing a
// document again continues its session.
package sources

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

// A Source records an imported document.
type Source struct {
	Session  string `json:"session"`
	Snapshot string `json:"snapshot"`        // created by the last import
	Digest   string `json:"digest"`          // SHA-256 of the document and its includes, in hexadecimal
	Saved    int64  `json:"saved,omitempty"` // when the document was saved, in milliseconds since 1970
	// Stamp is the state of a transcript's file when it was imported, and Format is the transcript's
	// format. As long as the file has that stamp, it need not be read. "" if it must be.
	Stamp  string `json:"stamp,omitempty"`
	Format string `json:"format,omitempty"`
	// Growth describes how to continue reading the document; nil if it must be read in full.
	Growth *Growth `json:"growth,omitempty"`
	// Beside holds the files that the document's messages name ([format.NamedFiles]), by path.
	Beside map[string]File `json:"beside,omitempty"`
	// Before is the previous record. It is still valid if the import was killed before the
	// sessions moved.
	Before *Source `json:"before,omitempty"`
}

// Record records which documents became which sessions on this machine. The key is the absolute
// path of the file, "-:NAME" for standard input, or the format name and the document's identity
// ([format.Identity]). It is only a cache: without it, a document is recognized by its session's
// name and source_file.
type Record struct {
	path   string
	ByPath map[string]Source
	dirty  bool

	suffixes map[string]map[string]bool // suffixes of branches, by the key of their document; see branchKey
}

// BranchKey returns the key of a branch of a document.
func BranchKey(document, suffix string) string { return document + "\n" + suffix }

// index adds the branches that a key may denote. Suffixes start with a dot, and session names do
// not.
func (s *Record) index(key string) {
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

// Branches returns the suffixes of a document's known branches.
func (s *Record) Branches(document string) []string {
	return slices.Sorted(maps.Keys(s.suffixes[document]))
}

// HasKey reports whether a document is known under any name that the user gave it.
func (s *Record) HasKey(key string) bool {
	for known := range s.ByPath {
		if rest, ok := strings.CutPrefix(known, key); ok && (rest == "" || rest[0] == '\n') {
			return true
		}
	}
	return false
}

// Open reads the record in a state directory. A missing or damaged record is empty.
func Open(stateDir string) (*Record, error) {
	s := &Record{path: filepath.Join(stateDir, "sources.json"), ByPath: map[string]Source{}, suffixes: map[string]map[string]bool{}}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of imports: %w", err)
	}
	if json.Unmarshal(data, &s.ByPath) != nil {
		s.ByPath = map[string]Source{} // damaged: treat it as missing
	}
	for key := range s.ByPath {
		s.index(key)
	}
	return s, nil
}

// Set replaces the record of a document. before is the record that was valid until now.
func (s *Record) Set(path string, now, before Source) {
	now.Before, before.Before = nil, nil
	if old := s.ByPath[path]; old.Session == now.Session && old.Snapshot == now.Snapshot && old.Digest == now.Digest && old.Saved == now.Saved &&
		maps.Equal(old.Beside, now.Beside) {
		if old.Stamp != now.Stamp {
			old.Stamp, old.Format = now.Stamp, now.Format
			s.ByPath[path], s.dirty = old, true
		}
		return
	}
	if before.Session != "" {
		now.Before = &before
	}
	s.ByPath[path], s.dirty = now, true
	s.index(path)
}

// Forget calls forget with each record, which may change it; forget reports whether it did.
func (s *Record) Forget(forget func(*Source) bool) {
	for key, source := range s.ByPath {
		if forget(&source) {
			s.ByPath[key], s.dirty = source, true
		}
	}
}

// Save must be called within the update, before the sessions move. A record of a move that did
// not happen is detected later, but a missing record is not.
func (s *Record) Save() error {
	if !s.dirty {
		return nil
	}
	data, err := json.MarshalIndent(s.ByPath, "", " ")
	if err != nil {
		return err
	}
	if err := local.Replace(s.path, data); err != nil {
		return fmt.Errorf("writing the record of imports: %w", err)
	}
	s.dirty = false
	return nil
}

// A Growth describes how to continue reading a document that grew.
type Growth struct {
	Format string `json:"format"`
	Size   int64  `json:"size"` // of the document
	Read   int64  `json:"read"` // number of bytes that will not change
	State  string `json:"state"`
}

// A File is the last known state of a file that a document names.
type File struct {
	Size   int64  `json:"size,omitempty"`
	Time   int64  `json:"time,omitempty"`   // of the last change, in nanoseconds since 1970
	SHA256 string `json:"sha256,omitempty"` // of the kept content, in hexadecimal; "" if nothing was kept
}

// Rename changes the records of a session's files to its new name.
func Rename(stateDir, from, to string) error {
	s, err := Open(stateDir)
	if err != nil {
		return err
	}
	for path, src := range s.ByPath {
		if src.Session == from {
			moved := src
			moved.Session = to
			s.Set(path, moved, src)
		}
	}
	return s.Save()
}

// Moved records that a snapshot has the document of another one, so that the next import of that document
// continues it. It must be called within the update, before the session moves.
func Moved(stateDir, session, from, to string) error {
	s, err := Open(stateDir)
	if err != nil {
		return err
	}
	for path, src := range s.ByPath {
		if src.Session == session && src.Snapshot == from {
			moved := src
			moved.Snapshot = to
			s.Set(path, moved, src)
		}
	}
	return s.Save()
}
