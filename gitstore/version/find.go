package version

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/gitstore/odb"
)

// HasPath reports whether a version has a directory, regular file or symbolic link at a path. It does not find FIFOs and devices.
func (s Reader) HasPath(version, path string) (bool, error) {
	entry, _, err := s.entryAt(version, path)
	return !entry.ID.IsZero(), err
}

// FindFile returns the id of the content of a regular file in a version, for [Reader.Content], or "" if the version has no
// regular file at that path. It reads only trees and no sidecars. So it also returns the content of a symbolic link
// that is stored as a regular file, because hosts might reject its target (SPEC.md, section 11).
func (s Reader) FindFile(version, path string) (string, error) {
	entry, siblings, err := s.entryAt(version, path)
	if err != nil || entry.ID.IsZero() || entry.IsTree() || entry.Mode == odb.ModeSymlink {
		return "", err
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return contentID(entry.ID, odb.FindEntry(siblings, chunksPrefix+escapeName(name)).ID), nil
}

// entryAt returns the tree entry of a file and those of its directory. The entry is zero if there is none.
func (s Reader) entryAt(version, path string) (entry odb.TreeEntry, siblings []odb.TreeEntry, err error) {
	id, err := odb.ParseID(version)
	if err != nil {
		return entry, nil, err
	}
	for {
		name, rest, below := strings.Cut(path, "/")
		if checkName(name) != nil {
			return odb.TreeEntry{}, nil, nil
		}
		if siblings, err = s.db.Tree(id); err != nil {
			return odb.TreeEntry{}, nil, fmt.Errorf("version %s: %w", version, err)
		}
		if entry = odb.FindEntry(siblings, treeName(name, false)); entry.ID.IsZero() {
			entry = odb.FindEntry(siblings, treeName(name, true))
		}
		if !below {
			return entry, siblings, nil
		}
		if !entry.IsTree() {
			return odb.TreeEntry{}, nil, nil
		}
		id, path = entry.ID, rest
	}
}
