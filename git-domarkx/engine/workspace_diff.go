package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
	"github.com/rogpeppe/go-internal/diff"
)

// manifestName is what a change of the configuration of resources is shown as; no
// resource can have that name.
const manifestName = "workspace.json"

// maxDiffed is the size in bytes of the largest file whose lines are compared.
const maxDiffed = 16 << 20

// DiffVersions calls emit with the differences of each path at which two versions
// differ, in Git's form of a unified diff. A path begins with the id of its
// resource. Only what differs is read.
func (m *SessionManager) DiffVersions(ctx context.Context, a, b domarkx.Version, emit func([]byte) error) error {
	if text := diffText(manifestName, regular, regular, manifest(a), manifest(b)); text != nil {
		if err := emit(text); err != nil {
			return err
		}
	}
	old, now := versionsByID(a), versionsByID(b)
	var ids []string
	for _, r := range slices.Concat(a.Resources, b.Resources) {
		if !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		if old[id] == now[id] {
			continue
		}
		err := m.store.DiffVersions(ctx, old[id], now[id], func(path string, x, y *domarkx.File) error {
			at := id
			if path != "" {
				at += "/" + path
			}
			var sides [2]domarkx.File
			for i, f := range []*domarkx.File{x, y} {
				if f != nil {
					sides[i] = *f
				}
			}
			text, err := m.diffFile(ctx, at, sides[0], sides[1])
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

func versionsByID(v domarkx.Version) map[string]string {
	all := make(map[string]string, len(v.Resources))
	for _, r := range v.Resources {
		all[r.ID] = r.Version
	}
	return all
}

// manifest shows what resources a version has, without their versions.
func manifest(v domarkx.Version) []byte {
	var b bytes.Buffer
	for _, r := range v.Resources {
		b.WriteString(r.ID + " (" + r.Type + "): ")
		b.Write(r.Config.AppendJSON(nil, "", "  "))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// diffFile returns the difference of one path; a file without a type is none.
func (m *SessionManager) diffFile(ctx context.Context, path string, a, b domarkx.File) ([]byte, error) {
	if folder := a.Type | b.Type; folder == domarkx.Directory && (a.Type == 0 || b.Type == 0) {
		files, err := m.store.Folder(ctx, a.ID+b.ID)
		if err != nil || len(files) > 0 {
			return nil, err // what is in it tells of it, as in Git
		}
	}
	if a.Type != 0 && b.Type != 0 && a.Type != b.Type { // like Git: one goes, another comes
		gone, err := m.diffFile(ctx, path, a, domarkx.File{})
		if err != nil {
			return nil, err
		}
		come, err := m.diffFile(ctx, path, domarkx.File{}, b)
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
		if data[i], err = m.content(ctx, f.ID); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return diffText(path, a, b, data[0], data[1]), nil
}

func (m *SessionManager) content(ctx context.Context, id string) ([]byte, error) {
	c, err := m.store.Content(ctx, id)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
}

var regular = domarkx.File{Type: domarkx.Regular, Mode: 0o644}

// diffText returns the difference of two texts and of the attributes of their
// files, nil when there is none.
func diffText(path string, a, b domarkx.File, x, y []byte) []byte {
	same := bytes.Equal(x, y)
	if same && a.Type == b.Type && sameAttributes(a, b) {
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

// isBinary is Git's rule: a NUL among the first bytes.
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
	return quotedPath(side + path)
}

// diffHead names a path and what changed beside its content, in the words of
// git-diff(1); what Git does not know is in the same form.
func diffHead(path string, a, b domarkx.File) []byte {
	text := fmt.Appendf(nil, "diff --git %s %s\n", quotedPath("a/"+path), quotedPath("b/"+path))
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
		text = fmt.Appendf(text, "hard link to %s\n", quotedPath(b.HardLink))
	} else if a.HardLink != b.HardLink {
		text = fmt.Appendf(text, "no hard link\n")
	}
	for _, name := range changedXattrs(a, b) {
		text = fmt.Appendf(text, "extended attribute %s\n", quotedPath(name))
	}
	return text
}

// gitMode is a mode as Git writes it, with the bits that it does not know.
func gitMode(f domarkx.File) uint32 {
	kinds := map[domarkx.FileType]uint32{domarkx.Regular: 0o100000, domarkx.Directory: 0o040000, domarkx.Symlink: 0o120000,
		domarkx.Fifo: 0o010000, domarkx.CharDevice: 0o020000, domarkx.BlockDevice: 0o060000}
	if f.Type == domarkx.Symlink {
		return kinds[f.Type]
	}
	return kinds[f.Type] | f.Mode
}

func sameAttributes(a, b domarkx.File) bool {
	return gitMode(a) == gitMode(b) && a.HasOwner == b.HasOwner && a.UID == b.UID && a.GID == b.GID && a.Major == b.Major &&
		a.Minor == b.Minor && a.HardLink == b.HardLink && len(changedXattrs(a, b)) == 0
}

// changedXattrs returns the names of the extended attributes that one of two files
// has not, or otherwise.
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
	slices.SortFunc(names, cmp.Compare[string])
	return names
}

// quotedPath is a path as Git shows it: in double quotes, with the escapes of C,
// where it holds what a line or a terminal could not (core.quotePath off).
func quotedPath(path string) string {
	plain := utf8.ValidString(path) && strings.IndexFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }) < 0
	if plain {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		c := path[i]
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f || r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteString(path[i : i+size])
		}
		i += size
	}
	return b.String() + `"`
}
