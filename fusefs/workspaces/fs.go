//go:build linux || darwin

package workspaces

import (
	"context"
	"path"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/fusefs/internal/recent"
)

// An FS is the file system. It is served by one [fuse.Server].
type FS struct {
	fuse.RawFileSystem // rejects all other operations: the file system is read-only
	config             Config
	*catalog

	owner    uint32                           // of all files
	kept     recent.Cache[string, *directory] // by id
	contents *contents

	mu    sync.Mutex
	nodes map[uint64]*node // the nodes that the kernel knows
	last  uint64           // last id assigned
	gen   uint64           // number of the newest dirListing
}

// New returns a file system.
func New(c Config) *FS {
	c.Contents = withExpired{c.Contents}
	f := &FS{
		RawFileSystem: fuse.NewDefaultRawFileSystem(),
		config:        c,
		catalog:       &catalog{Workspaces: c.Workspaces},
		owner:         foreignOwner(),
		contents:      newContents(c.Contents.Content),
		last:          fuse.FUSE_ROOT_ID,
	}
	f.histories.Most, f.kept.Most, f.kept.Cost = maxHistories, maxKept, (*directory).cost
	top := &node{kind: kindDirectory, id: fuse.FUSE_ROOT_ID, ino: inode(0, "workspaces"), meta: meta{mode: dirMode, links: 1, date: c.Started.Unix()}}
	f.nodes = map[uint64]*node{top.id: top}
	return f
}

// String names the file system.
func (f *FS) String() string { return "domarkx" }

// node returns the node with the id of the kernel, or nil.
func (f *FS) node(id uint64) *node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes[id]
}

// fail returns the status for an error, and logs an error that the caller did not cause.
func (f *FS) fail(doing string, n *node, name string, err error) fuse.Status {
	status := fuse.Status(f.config.Errno(err))
	if status == fuse.EIO {
		f.config.Logger.Error(doing, "what", n.path(name), "err", err)
	}
	return status
}

func (n *node) path(name string) string {
	for ; n != nil && n.parent != nil; n = n.parent {
		name = path.Join(n.name, name)
	}
	return name
}

// remember registers a node with the kernel: it assigns an id if the node has none, and
// counts a lookup. f.mu must be held.
func (f *FS) remember(n *node) *node {
	if n.id == 0 {
		f.last++
		n.id = f.last
		f.nodes[n.id] = n
	}
	n.lookups++
	return n
}

// child returns the node of entry i of a listing. f.mu must be held.
func (f *FS) child(parent *node, l *listing, i int) *node {
	slot := l.entries[i].slot
	if n := l.nodes[slot]; n != nil {
		return f.remember(n)
	}
	e := &l.entries[slot]
	n := &node{kind: kindEntry, ino: e.ino, parent: parent, name: e.name, slot: slot, key: e.key, meta: e.meta}
	l.nodes[slot] = n
	return f.remember(n)
}

// Forget drops a node when the kernel has forgotten all lookups of it.
func (f *FS) Forget(id, lookups uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[id]
	if n == nil || n.parent == nil {
		return
	}
	if n.lookups -= min(n.lookups, lookups); n.lookups > 0 {
		return
	}
	delete(f.nodes, id)
	if n.kind == kindEntry {
		n.parent.listing.nodes[n.slot] = nil
		return
	}
	if key := n.liveKey(); n.parent.live[key] == n {
		delete(n.parent.live, key)
	}
}

// liveKey is the key of a node in its parent's live map. It includes the target of the
// link to the latest version.
func (n *node) liveKey() string {
	if n.kind == kindLatest {
		return n.name + "\x00" + n.key
	}
	return n.name
}

// fillEntry fills in the reply for a node that never changes.
func (f *FS) fillEntry(n *node, out *fuse.EntryOut) {
	out.NodeId, out.Generation = n.id, 1
	out.SetEntryTimeout(forever)
	out.SetAttrTimeout(forever)
	f.attr(&out.Attr, n.meta, n.ino)
}

// Lookup looks up a name in a directory.
func (f *FS) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	n := f.node(header.NodeId)
	if n == nil {
		return fuse.ENOENT
	}
	ctx := context.Background() // a signal must not interrupt: programs do not expect EINTR
	if n.kind != kindEntry && n.kind != kindVersion {
		return f.lookupDirectory(ctx, n, name, out)
	}
	if n.meta.mode != dirMode {
		return fuse.ENOTDIR
	}
	l, err := f.list(ctx, n)
	if err != nil {
		return f.fail("reading a directory of a version", n, "", err)
	}
	i, ok := find(l.entries, name)
	if !ok {
		out.SetEntryTimeout(forever) // the name will never exist
		return fuse.OK
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fillEntry(f.child(n, l, i), out)
	return fuse.OK
}

// GetAttr returns the attributes of a node.
func (f *FS) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := f.node(in.NodeId)
	if n == nil {
		return fuse.ENOENT
	}
	if n.kind == kindDirectory {
		return f.attrDirectory(context.Background(), n, out)
	}
	f.attr(&out.Attr, n.meta, n.ino)
	out.SetTimeout(forever)
	return fuse.OK
}

// Open keeps no state. On Linux the kernel stops sending OPEN after the first answer.
func (f *FS) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return open(out, fuse.FOPEN_KEEP_CACHE)
}

// OpenDir keeps no state.
func (f *FS) OpenDir(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return open(out, 0)
}

func open(out *fuse.OpenOut, flags uint32) fuse.Status {
	if stateless {
		return fuse.ENOSYS
	}
	out.OpenFlags = flags
	return fuse.OK
}

// Flush keeps no state, so the kernel need not send it on close.
func (f *FS) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

// StatFs reports a file system without free space.
func (f *FS) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = 4096, 4096, 255
	return fuse.OK
}
