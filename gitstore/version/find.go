package version

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/gitstore/odb"
)

// HasPath reports whether a version has a directory, regular file or symbolic link at a path. It does not find FIFOs and devices.
func (s Reader) HasPath(version, path string) (bool, error) {
	id, err := odb.ParseID(version)
	if err != nil {
		return false, err
	}
	for {
		name, rest, below := strings.Cut(path, "/")
		if checkName(name) != nil {
			return false, nil
		}
		entries, err := s.db.Tree(id)
		if err != nil {
			return false, fmt.Errorf("version %s: %w", version, err)
		}
		entry := odb.FindEntry(entries, treeName(name, false))
		if entry.ID.IsZero() {
			entry = odb.FindEntry(entries, treeName(name, true))
		}
		if entry.ID.IsZero() || below && !entry.IsTree() {
			return false, nil
		}
		if !below {
			return true, nil
		}
		id, path = entry.ID, rest
	}
}

// FindFile returns the id of the content of a regular file in a version, for [Reader.Content], or "" if the version has no
// regular file at that path. It reads only trees and no sidecars. So it also returns the content of a symbolic link
// that is stored as a regular file, because hosts might reject its target (SPEC.md, section 11).
func (s Reader) FindFile(version, path string) (string, error) {
	id, err := odb.ParseID(version)
	if err != nil {
		return "", err
	}
	for {
		name, rest, below := strings.Cut(path, "/")
		if checkName(name) != nil {
			return "", nil
		}
		entries, err := s.db.Tree(id)
		if err != nil {
			return "", fmt.Errorf("version %s: %w", version, err)
		}
		entry := odb.FindEntry(entries, treeName(name, false))
		switch {
		case entry.ID.IsZero(), below != entry.IsTree():
			return "", nil
		case below:
			id, path = entry.ID, rest
			continue
		case entry.Mode == odb.ModeSymlink:
			return "", nil
		}
		return contentID(entry.ID, odb.FindEntry(entries, chunksPrefix+escapeName(name)).ID), nil
	}
}
