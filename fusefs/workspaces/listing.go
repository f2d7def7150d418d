//go:build linux || darwin

package workspaces

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
)

const maxName = 1024 // bytes of the longest name that the kernel accepts

// A listing holds the entries of an immutable directory, with the nodes that the kernel
// knows.
type listing struct {
	entries []entry // by name
	nodes   []*node // by slot; nil if the kernel does not know the node; guarded by FS.mu
}

// An entry is a name in an immutable directory.
type entry struct {
	name string
	key  string
	ino  uint64
	meta meta
	slot int // index of the first entry for the same file, usually its own
}

func find(entries []entry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, name, func(e entry, name string) int { return strings.Compare(e.name, name) })
}

// list returns the listing of an immutable directory.
func (f *FS) list(ctx context.Context, n *node) (*listing, error) {
	n.loading.Lock()
	defer n.loading.Unlock()
	if n.listing != nil {
		return n.listing, nil
	}
	found, err := f.directory(ctx, n)
	if err != nil {
		return nil, err
	}
	for _, name := range found.skipped {
		f.config.Logger.Warn("cannot show a name", "name", name)
	}
	l := &listing{entries: slices.Clone(found.entries), nodes: make([]*node, len(found.entries))}
	for i := range l.entries {
		e := &l.entries[i]
		e.ino, e.slot, e.meta.date = inode(n.ino, e.name), i, n.meta.date
	}
	if found.links != nil {
		l.link(n, found.links)
	}
	f.mu.Lock()
	n.listing = l
	f.mu.Unlock()
	return l, nil
}

// directory returns the entries of an immutable directory.
func (f *FS) directory(ctx context.Context, n *node) (*directory, error) {
	if n.kind != kindVersion {
		return f.readDirectory(ctx, n.key)
	}
	resources, err := f.resources(ctx, n.key)
	if err != nil {
		return nil, err
	}
	return f.makeDirectory(ctx, resources)
}

// resources returns the root directories of a version's resources, named by resource id.
func (f *FS) resources(ctx context.Context, id string) ([]domarkx.File, error) {
	v, err := f.version(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := v.Files(); err != nil {
		return []domarkx.File{expiredFile(err)}, nil
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

// metaOf returns the attributes of a file as shown: readable for everybody, writable for
// nobody, without set-id bits.
func (f *FS) metaOf(ctx context.Context, file *domarkx.File) (meta, error) {
	m := meta{links: 1, size: file.Size}
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

// link gives all hard links of a file in this directory the same node. A hard link to a
// file in another directory gets the inode number of that file.
func (l *listing) link(n *node, links []string) {
	top, at := n, ""
	for ; top.parent.kind == kindEntry; top = top.parent {
		at = path.Join(top.name, at)
	}
	for own, target := range links {
		if target == "" {
			continue
		}
		e := &l.entries[own]
		directory, base := path.Split(target)
		if first, ok := find(l.entries, base); ok && path.Clean("/"+directory) == path.Clean("/"+at) && l.entries[first].meta.mode == e.meta.mode {
			l.entries[first].meta.links++
			e.slot, e.ino = first, l.entries[first].ino
			continue
		}
		e.meta.links = 2
		e.ino = top.ino
		for part := range strings.SplitSeq(target, "/") {
			e.ino = inode(e.ino, part)
		}
	}
	for i := range l.entries {
		if slot := l.entries[i].slot; slot != i {
			l.entries[i].meta, l.entries[i].key = l.entries[slot].meta, l.entries[slot].key
		}
	}
}
