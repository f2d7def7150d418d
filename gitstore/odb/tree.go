package odb

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// The modes of entries that Git writes.
const (
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeTree       uint32 = 0o040000
	ModeSubmodule  uint32 = 0o160000
)

// A TreeEntry is an entry of a tree. Trees of other programs may have modes that Git no longer writes.
type TreeEntry struct {
	Mode uint32
	Name string // any bytes but NUL and slash
	ID   ID
}

// IsTree reports whether the entry is a directory.
func (e TreeEntry) IsTree() bool { return e.Mode == ModeTree }

// EncodeTree encodes a tree with these entries, which may be in any order. It returns [domarkx.ErrInvalid] for a mode
// that Git does not write, a name that Git refuses (see CheckName), an id of another hash function, a zero id and a
// duplicate name.
func EncodeTree(by oid.Hash, entries []TreeEntry) ([]byte, error) {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, CompareEntries)
	names := make(map[string]bool, len(sorted))
	var data []byte
	for _, e := range sorted {
		switch e.Mode {
		case ModeFile, ModeExecutable, ModeSymlink, ModeTree, ModeSubmodule:
		default:
			return nil, fmt.Errorf("tree entry %q: %w: mode %o", e.Name, domarkx.ErrInvalid, e.Mode)
		}
		if err := CheckName(e.Name); err != nil {
			return nil, fmt.Errorf("tree entry: %w", err)
		}
		if e.ID.IsZero() {
			return nil, fmt.Errorf("tree entry %q: %w: its id is zero", e.Name, domarkx.ErrInvalid)
		}
		if !e.ID.IsOf(by) {
			return nil, fmt.Errorf("tree entry %q: %w: its id %s is not one of %s", e.Name, domarkx.ErrInvalid, e.ID, by)
		}
		if names[e.Name] {
			return nil, fmt.Errorf("tree entry %q: %w: duplicate name", e.Name, domarkx.ErrInvalid)
		}
		names[e.Name] = true
		data = strconv.AppendUint(data, uint64(e.Mode), 8)
		data = append(data, ' ')
		data = append(data, e.Name...)
		data = append(data, 0)
		data = e.ID.AppendTo(data)
	}
	return data, nil
}

// CompareEntries compares two entries by Git's order of trees: by the bytes of their names, as if a slash followed the
// name of a directory.
func CompareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	if c := strings.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(nextByte(a, n), nextByte(b, n))
}

func nextByte(e TreeEntry, n int) int {
	switch {
	case n < len(e.Name):
		return int(e.Name[n])
	case e.Mode == ModeTree:
		return '/'
	}
	return 0
}

// FindEntry returns the entry with a name, or the zero TreeEntry if there is none.
func FindEntry(entries []TreeEntry, name string) TreeEntry {
	for _, e := range entries {
		if e.Name == name {
			return e
		}
	}
	return TreeEntry{}
}

// averageEntry is about the number of bytes of an entry with a short name.
const averageEntry = 36

// DecodeTree decodes a tree with ids of a hash function. It accepts all modes that any version of Git has written. It returns [domarkx.ErrCorrupt]
// for an invalid tree, and for a name that could lead out of its directory.
func DecodeTree(by oid.Hash, data []byte) ([]TreeEntry, error) {
	entries := make([]TreeEntry, 0, len(data)/averageEntry+1)
	names := string(data) // one copy, which contains all names
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		end := bytes.IndexByte(data, 0)
		if space < 0 || end < space || len(data)-end-1 < by.Size() {
			return nil, fmt.Errorf("tree: %w: it is truncated", domarkx.ErrCorrupt)
		}
		at := names[len(names)-len(data):]
		bits, err := strconv.ParseUint(at[:space], 8, 18)
		if err != nil {
			return nil, fmt.Errorf("tree: %w: mode %q", domarkx.ErrCorrupt, data[:space])
		}
		next := end + 1 + by.Size()
		e := TreeEntry{Mode: uint32(bits), Name: at[space+1 : end], ID: oid.FromBytes(data[end+1 : next])}
		if e.Name == "" || e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "/") {
			return nil, fmt.Errorf("tree: %w: entry %q", domarkx.ErrCorrupt, e.Name)
		}
		entries = append(entries, e)
		data = data[next:]
	}
	return entries, nil
}

// CheckName returns [domarkx.ErrInvalid] for a name that git fsck --strict reports and hosts reject: an empty one, one
// with a slash or NUL, ".", "..", and one that a file system takes for ".git".
func CheckName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("name %q: %w", name, domarkx.ErrInvalid)
	case strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("name %q: %w: it contains a slash or NUL", name, domarkx.ErrInvalid)
	}
	for part := range strings.SplitSeq(name, `\`) {
		if isNTFSDotGit(part) {
			return fmt.Errorf("name %q: %w: Windows treats it as .git", name, domarkx.ErrInvalid)
		}
	}
	if isHFSDotGit(name) {
		return fmt.Errorf("name %q: %w: macOS treats it as .git", name, domarkx.ErrInvalid)
	}
	return nil
}

// isNTFSDotGit is equivalent to Git's is_ntfs_dotgit: it reports whether NTFS takes a name for .git, because it is .git
// or the short name git~1, followed by characters that Windows ignores.
func isNTFSDotGit(name string) bool {
	for _, git := range []string{".git", "git~1"} {
		if len(name) < len(git) || !strings.EqualFold(name[:len(git)], git) {
			continue
		}
		rest := strings.TrimLeft(name[len(git):], " .")
		if rest == "" || rest[0] == ':' {
			return true
		}
	}
	return false
}

// isHFSDotGit is equivalent to Git's is_hfs_dotgit: it reports whether HFS+ takes a name for .git, because it differs
// only by characters that HFS+ ignores.
func isHFSDotGit(name string) bool {
	kept := strings.Map(func(r rune) rune {
		if IgnoredByHFS(r) {
			return -1
		}
		return r
	}, name)
	return len(kept) == len(".git") && strings.EqualFold(kept, ".git")
}

// IgnoredByHFS reports whether HFS+ ignores a character in names.
func IgnoredByHFS(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}
