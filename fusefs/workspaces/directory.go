//go:build linux || darwin

package workspaces

import (
	"context"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
)

// lookupDirectory looks up a name above an object id.
func (f *FS) lookupDirectory(ctx context.Context, n *node, name string, out *fuse.EntryOut) fuse.Status {
	if n.kind != kindDirectory && n.kind != kindByID {
		return fuse.ENOTDIR
	}
	found, err := f.find(ctx, n, f.config.Spelled(name))
	if err != nil {
		return f.fail("looking up a workspace", n, name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n.live == nil {
		n.live = map[string]*node{}
	}
	if known := n.live[found.liveKey()]; known != nil && known.kind == found.kind && known.key == found.key {
		found = known
	} else {
		n.live[found.liveKey()] = found
	}
	f.fillEntry(f.remember(found), out)
	if found.kind != kindVersion {
		out.SetEntryTimeout(0)
		out.SetAttrTimeout(0)
	}
	return fuse.OK
}

// find returns a new node for a name above an object id, or domarkx.ErrNotFound.
func (f *FS) find(ctx context.Context, n *node, name string) (*node, error) {
	child := &node{parent: n, name: name, ino: inode(n.ino, name), meta: meta{mode: dirMode, links: 1, date: n.meta.date}}
	if n.kind == kindDirectory && n.parent == nil && name == AllVersions {
		child.kind = kindByID
		return child, nil
	}
	v, err := f.findVersion(ctx, n, name)
	switch {
	case err != nil:
		return nil, err
	case v.ID != "" && name == latest:
		child.kind, child.key = kindLatest, Name(v)
		child.ino = inode(child.ino, child.key)
		child.meta.mode, child.meta.size, child.meta.date = linkMode, int64(len(child.key)), v.Date
		return child, nil
	case v.ID != "":
		child.kind, child.key, child.meta.date = kindVersion, v.ID, v.Date
		return child, nil
	}
	child.key = path.Join(n.key, name)
	child.meta, err = f.state(ctx, child)
	return child, err
}

// findVersion returns the version that a name in a directory stands for. The version has
// no ID for a directory of workspaces.
func (f *FS) findVersion(ctx context.Context, n *node, name string) (domarkx.Version, error) {
	var tip domarkx.Version
	var err error
	if n.kind == kindDirectory {
		if tip, err = f.tip(ctx, n.key); err != nil || tip.ID == "" || name == latest {
			return tip, err
		}
	}
	number, id, ok := ParseName(name)
	if !ok {
		return tip, fmt.Errorf("version %q: %w", name, domarkx.ErrNotFound)
	}
	v := domarkx.Version{}
	if n.kind == kindByID {
		v, err = f.version(ctx, id)
	} else {
		v, err = f.member(ctx, n.key, tip, id)
	}
	if err == nil && (v.Number != number || v.ID != id) {
		err = fmt.Errorf("version %q: %w", name, domarkx.ErrNotFound)
	}
	return v, err
}

// state returns the attributes of a directory above an object id, or domarkx.ErrNotFound.
// The fraction of a second changes with the entries, because the kernel keeps a listing
// until the time changes.
func (f *FS) state(ctx context.Context, n *node) (meta, error) {
	m := meta{mode: dirMode, links: 1, date: f.config.Started.Unix()}
	tip, err := f.tip(ctx, n.key)
	if err != nil {
		return m, err
	}
	h := fnv.New32a()
	if tip.ID != "" {
		h.Write([]byte(tip.ID))
		m.date, m.nanos = tip.Date, h.Sum32()%1e9
		return m, nil
	}
	names, err := f.components(ctx, n.key)
	if err != nil {
		return m, err
	}
	if len(names) == 0 && n.key != "" {
		return m, fmt.Errorf("workspace %q: %w", n.key, domarkx.ErrNotFound)
	}
	for _, name := range names {
		h.Write([]byte(name + "\x00"))
	}
	m.nanos = h.Sum32() % 1e9
	return m, nil
}

func (f *FS) attrDirectory(ctx context.Context, n *node, out *fuse.AttrOut) fuse.Status {
	m, err := f.state(ctx, n)
	if err != nil {
		return f.fail("reading the attributes of a workspace", n, "", err)
	}
	f.attr(&out.Attr, m, n.ino)
	out.SetTimeout(0)
	return fuse.OK
}

// A dirListing holds the entries that a directory had when a program began to list it.
type dirListing struct {
	gen   uint64
	names []fuse.DirEntry
}

const maxLists = 8 // cached listings of a directory

// listDirectory returns the entries of a directory above an object id: for offset 0 the
// current ones, for another offset those of the listing that it belongs to.
func (f *FS) listDirectory(ctx context.Context, n *node, off uint64) (dirListing, error) {
	f.mu.Lock()
	for _, l := range n.lists {
		if l.gen == off>>32 {
			f.mu.Unlock()
			return l, nil
		}
	}
	f.mu.Unlock()
	names, err := f.names(ctx, n)
	if err != nil {
		return dirListing{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gen = f.gen%(1<<30) + 1
	l := dirListing{f.gen, names}
	if n.lists = append(n.lists, l); len(n.lists) > maxLists {
		n.lists = slices.Clone(n.lists[1:])
	}
	return l, nil
}

func (f *FS) names(ctx context.Context, n *node) ([]fuse.DirEntry, error) {
	entries := []fuse.DirEntry{}
	add := func(name string, mode uint32) {
		ino := inode(n.ino, name)
		entries = append(entries, fuse.DirEntry{Name: name, Mode: mode, Ino: ino})
	}
	if n.kind == kindByID {
		return entries, nil
	}
	tip, err := f.tip(ctx, n.key)
	if err != nil {
		return nil, err
	}
	if tip.ID == "" {
		names, err := f.components(ctx, n.key)
		for _, name := range names {
			add(name, syscall.S_IFDIR)
		}
		return entries, err
	}
	h, err := f.history(ctx, n.key, tip.ID)
	if err != nil {
		return nil, err
	}
	for _, v := range h.all {
		add(Name(v), syscall.S_IFDIR)
	}
	entries = append(entries, fuse.DirEntry{Name: latest, Mode: syscall.S_IFLNK, Ino: inode(inode(n.ino, latest), Name(tip))})
	return entries, nil
}
