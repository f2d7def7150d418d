// Package sources records which documents became which sessions on this machine, so that importing a
// document again continues its session.
package sources

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Source records an imported document.
type Source struct {
	Session  string `json:"session"`
	Snapshot string `json:"snapshot"`        // created by the last import
	Digest   string `json:"digest"`          // SHA-256 of the document and its includes, in hexadecimal
	Saved    int64  `json:"saved,omitempty"` // when the document was saved, in milliseconds since 1970
	// Stamp is the state of a transcript's file when it was imported, and Format is the transcript's format. The file need
	// not be read again while it has the same stamp. "" means that it must be read.
	Stamp  string `json:"stamp,omitempty"`
	Format string `json:"format,omitempty"`
	// Growth describes how to continue reading the document; nil if it must be read in full.
	Growth *Growth `json:"growth,omitempty"`
	// Beside maps the paths of files that the document's messages name ([format.NamedFiles]) to their last known state.
	Beside map[string]File `json:"beside,omitempty"`
	// Before is the previous record. It is valid if the process was killed before the session moved.
	Before *Source `json:"before,omitempty"`
}

// A Record holds which documents became which sessions on this machine. The key of a document is the absolute path of the
// file, "-:NAME" for standard input, or the format's name and the document's identity ([format.Identity]). The record is
// only a cache: without it, a document is recognized by its session's name and source_file.
//
// Each document has a file of its own, so that the cost of a save does not depend on the number of documents.
type Record struct {
	dir    string
	groups map[string]*group // first line of the keys → group, as far as it was read
	err    error             // the first error of reading
}

// A group holds the records whose keys have the same first line. These belong to one document:
// under all names that the user gave its session, and for all of its branches.
type group struct {
	byKey map[string]Source
	known map[string]bool // sessions that the index already lists for this group
	dirty bool
}

// BranchKey returns the key of a branch of a document.
func BranchKey(document, suffix string) string { return document + "\n" + suffix }

// DocumentKey returns a document's key without the name that the user gave its session. The suffix of a branch remains.
func DocumentKey(key string) string {
	document, name, _ := strings.Cut(key, "\n")
	if strings.HasPrefix(name, ".") {
		return key
	}
	return document
}

// Open opens the record in a state directory. Missing and damaged files count as empty.
func Open(stateDir string) *Record {
	return &Record{dir: filepath.Join(stateDir, "sources"), groups: map[string]*group{}}
}

// Get returns the record of a document, or the zero value if there is none.
func (s *Record) Get(key string) Source { return s.of(key).byKey[key] }

// of returns the group of a key.
func (s *Record) of(key string) *group {
	first, _, _ := strings.Cut(key, "\n")
	g, ok := s.groups[first]
	if ok {
		return g
	}
	byKey, err := s.read(fileOf(first))
	if err != nil && s.err == nil {
		s.err = err
	}
	if byKey == nil {
		byKey = map[string]Source{}
	}
	g = &group{byKey: byKey, known: map[string]bool{}}
	for _, source := range byKey {
		g.known[source.Session] = true
	}
	s.groups[first] = g
	return g
}

// Branches returns the suffixes of the branches that are recorded for a document.
func (s *Record) Branches(document string) []string {
	var all []string
	for key := range s.of(document).byKey {
		// a suffix starts with a dot; a session's name does not
		if rest, ok := strings.CutPrefix(key, document+"\n"); ok && strings.HasPrefix(rest, ".") {
			suffix, _, _ := strings.Cut(rest, "\n")
			all = append(all, suffix)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// HasKey reports whether a document is recorded under any name that the user gave its session.
func (s *Record) HasKey(key string) bool {
	for known := range s.of(key).byKey {
		if rest, ok := strings.CutPrefix(known, key); ok && (rest == "" || rest[0] == '\n') {
			return true
		}
	}
	return false
}

// OfSession returns the records of a session's documents by key.
func (s *Record) OfSession(session string) (map[string]Source, error) {
	if err := s.load(session); err != nil {
		return nil, err
	}
	found := map[string]Source{}
	for _, g := range s.groups {
		for key, source := range g.byKey {
			if source.Session == session {
				found[key] = source
			}
		}
	}
	return found, s.err
}

// Set replaces the record of a document. before is the record that is valid until the session moves.
func (s *Record) Set(key string, now, before Source) {
	now.Before, before.Before = nil, nil
	g := s.of(key)
	if old := g.byKey[key]; old.Session == now.Session && old.Snapshot == now.Snapshot && old.Digest == now.Digest && old.Saved == now.Saved &&
		maps.Equal(old.Beside, now.Beside) {
		if old.Stamp != now.Stamp {
			old.Stamp, old.Format = now.Stamp, now.Format
			g.byKey[key], g.dirty = old, true
		}
		return
	}
	if before.Session != "" {
		now.Before = &before
	}
	g.byKey[key], g.dirty = now, true
}

// Remove removes the record of a document.
func (s *Record) Remove(key string) {
	if g := s.of(key); g.byKey[key].Session != "" {
		delete(g.byKey, key)
		g.dirty = true
	}
}

// Forget calls forget for each record. forget may change the record and reports whether it did. Forget also removes
// unfinished files of killed processes, because they may contain what has to be forgotten.
func (s *Record) Forget(forget func(*Source) bool) error {
	if err := os.RemoveAll(filepath.Join(s.dir, newDir)); err != nil {
		return fmt.Errorf("clearing the record of imports: %w", err)
	}
	if err := s.loadAll(); err != nil {
		return err
	}
	for _, g := range s.groups {
		for key, source := range g.byKey {
			if forget(&source) {
				g.byKey[key], g.dirty = source, true
			}
		}
	}
	return s.err
}

// A Growth describes how to continue reading a document that grew.
type Growth struct {
	Format string `json:"format"`
	Size   int64  `json:"size"` // size of the document in bytes
	Read   int64  `json:"read"` // number of bytes at the beginning that will not change
	State  string `json:"state"`
}

// A File is the last known state of a file that a document names.
type File struct {
	Size   int64  `json:"size,omitempty"`
	Time   int64  `json:"time,omitempty"`   // time of the last change, in nanoseconds since 1970
	SHA256 string `json:"sha256,omitempty"` // digest of the stored content, in hexadecimal; "" if none was stored
}

// Rename changes the session's name in all of its records.
func Rename(stateDir, from, to string) error {
	return change(stateDir, from, func(src Source) (Source, bool) {
		src.Session = to
		return src, true
	})
}

// Moved changes the records of snapshot from to snapshot to, which contains the same document, so that the next import
// continues it. It must be called within the update of the store, before the session moves.
func Moved(stateDir, session, from, to string) error {
	return change(stateDir, session, func(src Source) (Source, bool) {
		moves := src.Snapshot == from
		src.Snapshot = to
		return src, moves
	})
}

// change replaces the records of a session for which changed returns true.
func change(stateDir, session string, changed func(Source) (Source, bool)) error {
	s := Open(stateDir)
	of, err := s.OfSession(session)
	if err != nil {
		return err
	}
	for key, src := range of {
		if now, ok := changed(src); ok {
			s.Set(key, now, src)
		}
	}
	return s.Save()
}

// IsSettled reports whether a file's last change is so old that another change would alter the time of the file.
func IsSettled(info fs.FileInfo) bool {
	const tick = 2 * time.Second // resolution of FAT, the coarsest of all file systems
	return time.Since(info.ModTime()) > tick
}
