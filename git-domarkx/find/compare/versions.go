package compare

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// manifestName is the path under which changes of the resource configuration are shown. No
// resource can have this name.
const manifestName = "workspace.json"

// maxDiffed is the maximum size in bytes of files that are compared line by line.
const maxDiffed = 16 << 20

// Versions calls emit with the diff of each path that differs between two versions of a workspace, in Git's unified
// format. Paths start with the id of the
// resource. Only what differs is read.
func Versions(ctx context.Context, store *gitstore.Store, a, b domarkx.Version, emit func([]byte) error) error {
	if text := diffText(manifestName, regular, regular, manifest(a), manifest(b)); text != nil {
		if err := emit(text); err != nil {
			return err
		}
	}
	versions := map[string][2]string{} // by the id of the resource
	for side, v := range []domarkx.Version{a, b} {
		for _, r := range v.Resources {
			both := versions[r.ID]
			both[side] = r.Version
			versions[r.ID] = both
		}
	}
	for _, id := range slices.Sorted(maps.Keys(versions)) {
		old, now := versions[id][0], versions[id][1]
		if old == now {
			continue
		}
		err := store.DiffVersions(ctx, old, now, func(path string, x, y *domarkx.File) error {
			at := strings.TrimSuffix(id+"/"+path, "/")
			text, err := diffFile(ctx, store, at, *cmp.Or(x, &domarkx.File{}), *cmp.Or(y, &domarkx.File{}))
			if err != nil || text == nil {
				return err
			}
			return emit(text)
		})
		if err != nil {
			return fmt.Errorf("comparing resource %q: %w", id, err)
		}
	}
	return nil
}

// manifest returns a text with the resources of a version and their configs.
func manifest(v domarkx.Version) []byte {
	var b bytes.Buffer
	for _, r := range v.Resources {
		fmt.Fprintf(&b, "%s (%s): %s\n", r.ID, r.Type, r.Config.AppendJSON(nil, "", "  "))
	}
	return b.Bytes()
}

// diffFile returns the diff of one path. A file with a zero type does not exist.
func diffFile(ctx context.Context, store *gitstore.Store, path string, a, b domarkx.File) ([]byte, error) {
	if directory := a.Type | b.Type; directory == domarkx.Directory && (a.Type == 0 || b.Type == 0) {
		files, err := store.Directory(ctx, a.ID+b.ID)
		if err != nil || len(files) > 0 {
			return nil, err // Git shows the changes of its files instead
		}
	}
	if a.Type != 0 && b.Type != 0 && a.Type != b.Type { // as in Git: a deletion and a creation
		gone, err := diffFile(ctx, store, path, a, domarkx.File{})
		if err != nil {
			return nil, err
		}
		come, err := diffFile(ctx, store, path, domarkx.File{}, b)
		return append(gone, come...), err
	}
	if a.ID == b.ID && a.Type == b.Type {
		return diffText(path, a, b, nil, nil), nil
	}
	if a.Size > maxDiffed || b.Size > maxDiffed {
		return append(diffHead(path, a, b), differs(path, a, b, "Large")...), nil
	}
	var data [2][]byte
	for i, f := range []domarkx.File{a, b} {
		if f.Type != domarkx.Regular && f.Type != domarkx.Symlink {
			continue
		}
		var err error
		if data[i], err = domarkx.ReadContent(ctx, store, f.ID, maxDiffed); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return diffText(path, a, b, data[0], data[1]), nil
}

var regular = domarkx.File{Type: domarkx.Regular, Mode: 0o644}

// diffText returns the diff of two texts and of the attributes of their files, or nil if there is
// none.
func diffText(path string, a, b domarkx.File, x, y []byte) []byte {
	same := bytes.Equal(x, y)
	if same && a.Type == b.Type && gitMode(a) == gitMode(b) && a.HasOwner == b.HasOwner && a.UID == b.UID && a.GID == b.GID && a.Major == b.Major &&
		a.Minor == b.Minor && a.HardLink == b.HardLink && len(changedXattrs(a, b)) == 0 {
		return nil
	}
	text := diffHead(path, a, b)
	if same {
		return text
	}
	if isBinary(x) || isBinary(y) {
		return append(text, differs(path, a, b, "Binary")...)
	}
	_, lines, _ := bytes.Cut(diff.Diff("", x, "", y), []byte("\n+++ \n"))
	text = fmt.Appendf(text, "--- %s\n+++ %s\n", sideName("a/", path, a), sideName("b/", path, b))
	return append(text, lines...)
}

// isBinary applies Git's rule: a NUL among the first bytes.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
}

func differs(path string, a, b domarkx.File, what string) string {
	return fmt.Sprintf("%s files %s and %s differ\n", what, sideName("a/", path, a), sideName("b/", path, b))
}

func sideName(side, path string, f domarkx.File) string {
	if f.Type == 0 {
		return "/dev/null"
	}
	return gitcmd.QuotedPath(side + path)
}

// diffHead returns the header of a diff: the path and the changed attributes, as in git-diff(1).
// Attributes that Git does not know are written in the same style.
func diffHead(path string, a, b domarkx.File) []byte {
	text := fmt.Appendf(nil, "diff --git %s %s\n", gitcmd.QuotedPath("a/"+path), gitcmd.QuotedPath("b/"+path))
	switch {
	case a.Type == 0:
		text = fmt.Appendf(text, "new file mode %06o\n", gitMode(b))
	case b.Type == 0:
		return fmt.Appendf(text, "deleted file mode %06o\n", gitMode(a))
	case gitMode(a) != gitMode(b):
		text = fmt.Appendf(text, "old mode %06o\nnew mode %06o\n", gitMode(a), gitMode(b))
	}
	if b.HasOwner && (a.UID != b.UID || a.GID != b.GID || a.Type == 0) {
		if a.Type != 0 {
			text = fmt.Appendf(text, "old owner %d:%d\n", a.UID, a.GID)
		}
		text = fmt.Appendf(text, "new owner %d:%d\n", b.UID, b.GID)
	}
	if a.Major != b.Major || a.Minor != b.Minor {
		text = fmt.Appendf(text, "device %d:%d\n", b.Major, b.Minor)
	}
	if a.HardLink != b.HardLink && b.HardLink != "" {
		text = fmt.Appendf(text, "hard link to %s\n", gitcmd.QuotedPath(b.HardLink))
	} else if a.HardLink != b.HardLink {
		text = fmt.Appendf(text, "no hard link\n")
	}
	for _, name := range changedXattrs(a, b) {
		text = fmt.Appendf(text, "extended attribute %s\n", gitcmd.QuotedPath(name))
	}
	return text
}

// gitMode returns a file mode in Git's notation, including permission bits that Git does not
// store.
func gitMode(f domarkx.File) uint32 {
	kinds := map[domarkx.FileType]uint32{domarkx.Regular: 0o100000, domarkx.Directory: 0o040000, domarkx.Symlink: 0o120000,
		domarkx.Fifo: 0o010000, domarkx.CharDevice: 0o020000, domarkx.BlockDevice: 0o060000}
	if f.Type == domarkx.Symlink {
		return kinds[f.Type]
	}
	return kinds[f.Type] | f.Mode
}

// changedXattrs returns the names of the extended attributes that differ between two files.
func changedXattrs(a, b domarkx.File) []string {
	var names []string
	for _, pair := range [][2]domarkx.File{{a, b}, {b, a}} {
		for _, x := range pair[0].Xattrs {
			same := slices.ContainsFunc(pair[1].Xattrs, func(y domarkx.Xattr) bool { return x.Name == y.Name && bytes.Equal(x.Value, y.Value) })
			if !same && !slices.Contains(names, x.Name) {
				names = append(names, x.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}
