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
func (l *listing) find(name string) (int, bool) { return find(l.entries, name) }

func find(entries []entry, name string) (int, bool) {
	i := sort.Search(len(entries), func(i int) bool { return entries[i].name >= name })
	return i, i < len(entries) && entries[i].name == name
}

// list returns the listing of a folder that never changes.
func (f *FS) list(ctx context.Context, n *node) (*listing, error) {
	n.loading.Lock()
	defer n.loading.Unlock()
	if n.listing != nil {
		return n.listing, nil
	}
	found, err := f.folder(ctx, n)
	if err != nil {
		return nil, err
	}
	for _, name := range found.skipped {
		f.config.Logger.Warn("a name that cannot be shown", "name", name)
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

// folder returns what a folder that never changes has in it.
func (f *FS) folder(ctx context.Context, n *node) (*folder, error) {
	if n.kind != version {
		return f.kept.read(ctx, n.key)
	}
	resources, err := f.resources(ctx, n.key)
	if err != nil {
		return nil, err
	}
	return f.kept.make(ctx, resources)
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

// meta returns the attributes that a file is shown with: readable for all,
// writable for none, without set-id bits.
func (c *keptFolders) meta(ctx context.Context, file *domarkx.File) (meta, error) {
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
			target, err := c.of.Content(ctx, file.ID)
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
func (l *listing) link(n *node, links []string) {
	top, at := n, ""
	for ; top.parent.kind == inside; top = top.parent {
		at = path.Join(top.name, at)
	}
	for own, target := range links {
		if target == "" {
			continue
		}
		e := &l.entries[own]
		folder, base := path.Split(target)
		if first, ok := l.find(base); ok && path.Clean("/"+folder) == path.Clean("/"+at) && l.entries[first].meta.mode == e.meta.mode {
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
