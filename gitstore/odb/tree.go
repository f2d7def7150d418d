package odb

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx"
)

// The modes of entries that Git writes.
const (
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeTree       uint32 = 0o040000
	ModeSubmodule  uint32 = 0o160000
)

// A TreeEntry is one name in a tree. In trees of other programs the mode may be
// another than those that Git writes today.
type TreeEntry struct {
	Mode uint32
	Name string // any bytes but NUL and slash
	ID   ID
}

// IsTree reports whether the entry is a folder.
func (e TreeEntry) IsTree() bool { return e.Mode == ModeTree }

// EncodeTree returns the content of the tree with these entries, in Git's order
// whatever theirs is. A mode that Git does not write, a name that it refuses
// (empty, with a slash or NUL, ".", "..", or one that some file system takes for
// ".git"), a zero id and a name that is there twice are [domarkx.ErrInvalid].
func EncodeTree(entries []TreeEntry) ([]byte, error) {
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
			return nil, fmt.Errorf("tree entry %q: %w: it names no object", e.Name, domarkx.ErrInvalid)
		}
		if names[e.Name] {
			return nil, fmt.Errorf("tree entry %q: %w: it is there twice", e.Name, domarkx.ErrInvalid)
		}
		names[e.Name] = true
		data = strconv.AppendUint(data, uint64(e.Mode), 8)
		data = append(data, ' ')
		data = append(data, e.Name...)
		data = append(data, 0)
		data = append(data, e.ID[:]...)
	}
	return data, nil
}

// CompareEntries compares two entries as Git sorts a tree: by the bytes of their names, a
// directory's name as if a slash followed it.
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

// FindEntry returns the entry of a name, or the zero TreeEntry if there is none.
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

// DecodeTree reads the content of a tree. It takes what Git has ever written, and
// no name that could lead out of the tree: those are [domarkx.ErrCorrupt].
func DecodeTree(data []byte) ([]TreeEntry, error) {
	entries := make([]TreeEntry, 0, len(data)/averageEntry+1)
	names := string(data) // one copy, of which each name is a part
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		end := bytes.IndexByte(data, 0)
		if space < 0 || end < space || len(data)-end-1 < len(ID{}) {
			return nil, fmt.Errorf("tree: %w: it is cut short", domarkx.ErrCorrupt)
		}
		at := names[len(names)-len(data):]
		bits, err := strconv.ParseUint(at[:space], 8, 18)
		if err != nil {
			return nil, fmt.Errorf("tree: %w: mode %q", domarkx.ErrCorrupt, data[:space])
		}
		next := end + 1 + len(ID{})
		e := TreeEntry{Mode: uint32(bits), Name: at[space+1 : end], ID: ID(data[end+1 : next])}
		if e.Name == "" || e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "/") {
			return nil, fmt.Errorf("tree: %w: entry %q", domarkx.ErrCorrupt, e.Name)
		}
		entries = append(entries, e)
		data = data[next:]
	}
	return entries, nil
}

// CheckName reports, as [domarkx.ErrInvalid], a name that an entry of a tree must
// not have: git fsck --strict would complain, and hosts would refuse a push.
func CheckName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("name %q: %w", name, domarkx.ErrInvalid)
	case strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("name %q: %w: it has a slash or NUL", name, domarkx.ErrInvalid)
	}
	for part := range strings.SplitSeq(name, `\`) {
		if isNTFSDotGit(part) {
			return fmt.Errorf("name %q: %w: Windows takes it for .git", name, domarkx.ErrInvalid)
		}
	}
	if isHFSDotGit(name) {
		return fmt.Errorf("name %q: %w: macOS takes it for .git", name, domarkx.ErrInvalid)
	}
	return nil
}

// isNTFSDotGit is Git's is_ntfs_dotgit: .git and its short name git~1, followed by
// what Windows ignores.
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

// isHFSDotGit is Git's is_hfs_dotgit: .git, with characters between that HFS+
// ignores in names.
func isHFSDotGit(name string) bool {
	kept := strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
	return len(kept) == len(".git") && strings.EqualFold(kept, ".git")
}
