//go:build linux || darwin

package versions

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx"
)

const maxName = 1024 // bytes that the kernel takes for a name

// A listing is a folder that never changes.
type listing struct {
	entries []entry // by name
	nodes   []*node // those that the kernel knows, by slot; guarded by FS.mu
}

// An entry is a name in a folder that never changes.
type entry struct {
	name string
	key  string
	ino  uint64
	meta meta
	slot int // of the first entry that is the same file, mostly its own
}

// find returns the place of a name.
func (l *listing) find(name string) (int, bool) {
	i := sort.Search(len(l.entries), func(i int) bool { return l.entries[i].name >= name })
	return i, i < len(l.entries) && l.entries[i].name == name
}

// list returns the listing of a folder that never changes.
func (f *FS) list(ctx context.Context, n *node) (*listing, error) {
	n.loading.Lock()
	defer n.loading.Unlock()
	if n.listing != nil {
		return n.listing, nil
	}
	var files []domarkx.File
	var err error
	if n.kind == version {
		files, err = f.resources(ctx, n.key)
	} else {
		files, err = f.config.Contents.Folder(ctx, n.key)
	}
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(files))
	linked := false
	for i := range files {
		file := &files[i]
		if !nameable(file.Name) {
			f.config.Logger.Warn("a name that cannot be shown", "name", file.Name)
			continue
		}
		e := entry{name: file.Name, key: file.ID, ino: inode(n.ino, file.Name)}
		if e.meta, err = f.meta(ctx, file, n.meta.date); err != nil {
			return nil, fmt.Errorf("%q: %w", file.Name, err)
		}
		linked = linked || file.HardLink != ""
		entries = append(entries, e)
	}
	if !inOrder(entries) {
		slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
		entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.name == b.name })
	}
	for i := range entries {
		entries[i].slot = i
	}
	l := &listing{entries: entries, nodes: make([]*node, len(entries))}
	if linked {
		l.link(n, files)
	}
	f.mu.Lock()
	n.listing = l
	f.mu.Unlock()
	return l, nil
}

// inOrder reports whether entries are by name, and each name is there once.
func inOrder(entries []entry) bool {
	for i := 1; i < len(entries); i++ {
		if entries[i].name <= entries[i-1].name {
			return false
		}
	}
	return true
}

// resources returns the top folders of a version's resources, under their ids.
func (f *FS) resources(ctx context.Context, id string) ([]domarkx.File, error) {
	v, err := f.Version(ctx, id)
	if err != nil {
		return nil, err
	}
	files := make([]domarkx.File, len(v.Resources))
	for i, r := range v.Resources {
		if files[i], err = f.config.Contents.Top(ctx, r.Version); err != nil {
			return nil, fmt.Errorf("resource %q: %w", r.ID, err)
		}
		files[i].Name = r.ID
	}
	return files, nil
}

// nameable reports whether the kernel takes a name.
func nameable(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/\x00")
}

// meta returns the attributes that a file is shown with: readable for all,
// writable for none, without set-id bits.
func (f *FS) meta(ctx context.Context, file *domarkx.File, date int64) (meta, error) {
	m := meta{links: 1, size: file.Size, date: date}
	permissions := uint32(0o444)
	if file.Mode&0o111 != 0 {
		permissions = 0o555
	}
	switch file.Type {
	case domarkx.Regular:
		m.mode = syscall.S_IFREG | permissions
	case domarkx.Directory:
		m.mode, m.size = dirMode, 0
	case domarkx.Symlink:
		m.mode = linkMode
		if m.size == 0 {
			target, err := f.config.Contents.Content(ctx, file.ID)
			if err != nil {
				return m, err
			}
			m.size = target.Size()
			if err := target.Close(); err != nil {
				return m, err
			}
		}
	case domarkx.Fifo:
		m.mode, m.size = syscall.S_IFIFO|permissions, 0
	case domarkx.CharDevice, domarkx.BlockDevice:
		m.mode, m.size, m.rdev = syscall.S_IFCHR|permissions, 0, uint32(unix.Mkdev(file.Major, file.Minor))
		if file.Type == domarkx.BlockDevice {
			m.mode = syscall.S_IFBLK | permissions
		}
	default:
		return m, fmt.Errorf("%w: %s", domarkx.ErrCorrupt, file.Type)
	}
	return m, nil
}

// link makes the names of one file in a folder one file, and gives those whose
// other name is elsewhere that one's inode number.
func (l *listing) link(n *node, files []domarkx.File) {
	top, at := n, ""
	for ; top.parent.kind == inside; top = top.parent {
		at = path.Join(top.name, at)
	}
	for i := range files {
		if files[i].HardLink == "" {
			continue
		}
		own, ok := l.find(files[i].Name)
		if !ok || files[i].Type == domarkx.Directory {
			continue
		}
		e := &l.entries[own]
		folder, base := path.Split(files[i].HardLink)
		if first, ok := l.find(base); ok && path.Clean("/"+folder) == path.Clean("/"+at) && l.entries[first].meta.mode == e.meta.mode {
			l.entries[first].meta.links++
			e.slot, e.ino = first, l.entries[first].ino
			continue
		}
		e.meta.links = 2
		e.ino = top.ino
		for part := range strings.SplitSeq(files[i].HardLink, "/") {
			e.ino = inode(e.ino, part)
		}
	}
	for i := range l.entries {
		if slot := l.entries[i].slot; slot != i {
			l.entries[i].meta, l.entries[i].key = l.entries[slot].meta, l.entries[slot].key
		}
	}
}
