//go:build linux || darwin

package versions

import (
	"context"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// An FS is the file system. It is served by one [fuse.Server].
type FS struct {
	fuse.RawFileSystem // refuses all else: nothing here is written
	config             Config
	*catalog

	owner    uint32 // of all files
	kept     *keptFolders
	contents *contents
	pusher   *pusher

	mu    sync.Mutex
	nodes table  // those that the kernel knows
	last  uint64 // id that was given
	gen   uint64 // of the last list
}

// New returns a file system.
func New(c Config) *FS {
	f := &FS{
		RawFileSystem: fuse.NewDefaultRawFileSystem(),
		config:        c,
		catalog:       &catalog{Workspaces: c.Workspaces, Versions: c.Versions, histories: map[string]*history{}},
		owner:         ownerless(),
		kept:          newKeptFolders(c.Contents),
		contents:      newContents(c.Contents.Content),
		last:          fuse.FUSE_ROOT_ID,
	}
	top := &node{kind: named, id: fuse.FUSE_ROOT_ID, ino: inode(0, "workspaces"), meta: meta{mode: dirMode, links: 1, date: c.Started.Unix()}}
	f.nodes = table{}
	f.nodes.put(top)
	f.pusher = newPusher(f)
	return f
}

// Path returns where a version is shown, below the top: in the workspace that is
// preferred, when it is one of its versions, else in another that has it.
func (f *FS) Path(ctx context.Context, id, preferred string) (string, error) {
	return f.catalog.path(ctx, id, preferred)
}

// String names the file system.
func (f *FS) String() string { return "domarkx" }

// Init starts to push contents into the kernel's cache.
func (f *FS) Init(s *fuse.Server) {
	f.pusher.start(s)
}

// OnUnmount ends what goes on in the background.
func (f *FS) OnUnmount() {
	f.pusher.stop()
	f.contents.close()
}

// node returns what the kernel calls so.
func (f *FS) node(id uint64) *node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes.get(id)
}

// fail logs an error that is not the caller's fault, and returns its number.
func (f *FS) fail(doing string, n *node, name string, err error) fuse.Status {
	status := fuse.Status(f.config.Errno(err))
	if status == fuse.EIO {
		f.config.Logger.Error(doing, "what", n.path(name), "err", err)
	}
	return status
}

func (n *node) path(name string) string {
	for ; n != nil && n.parent != nil; n = n.parent {
		name = joined(n.name, name)
	}
	return name
}

// known returns the node that something is to the kernel, and counts that the
// kernel is told of it. f.mu is held.
func (f *FS) known(n *node) *node {
	if n.id == 0 {
		f.last++
		n.id = f.last
		f.nodes.put(n)
	}
	n.lookups++
	return n
}

// child returns the node of an entry of a listing. f.mu is held.
func (f *FS) child(parent *node, l *listing, i int) *node {
	slot := l.entries[i].slot
	if n := l.nodes[slot]; n != nil {
		return f.known(n)
	}
	e := &l.entries[slot]
	n := &node{kind: inside, ino: e.ino, parent: parent, name: e.name, slot: slot, key: e.key, meta: e.meta}
	l.nodes[slot] = n
	return f.known(n)
}

// Forget takes back what the kernel was told.
func (f *FS) Forget(id, lookups uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes.get(id)
	if n == nil || n.parent == nil {
		return
	}
	if n.lookups -= min(n.lookups, lookups); n.lookups > 0 {
		return
	}
	f.nodes.remove(id)
	if n.kind == inside {
		n.parent.listing.nodes[n.slot] = nil
		return
	}
	if key := n.liveKey(); n.parent.live[key] == n {
		delete(n.parent.live, key)
	}
}

// liveKey tells apart what a folder of names has had under a name.
func (n *node) liveKey() string {
	if n.kind == newest {
		return n.name + "\x00" + n.key
	}
	return n.name
}

// tell fills in what the kernel is told of what never changes.
func (f *FS) tell(n *node, out *fuse.EntryOut) {
	out.NodeId, out.Generation = n.id, 1
	out.SetEntryTimeout(forever)
	out.SetAttrTimeout(forever)
	f.attr(&out.Attr, n.meta, n.ino)
}

// Lookup finds a name in a folder.
func (f *FS) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	n := f.node(header.NodeId)
	if n == nil {
		return fuse.ENOENT
	}
	ctx := context.Background() // programs are not prepared for EINTR
	if n.kind != inside && n.kind != version {
		return f.lookupNamed(ctx, n, name, out)
	}
	if n.meta.mode != dirMode {
		return fuse.ENOTDIR
	}
	l, err := f.list(ctx, n)
	if err != nil {
		return f.fail("reading a folder of a version", n, "", err)
	}
	i, ok := l.find(name)
	if !ok {
		out.SetEntryTimeout(forever) // it never will be there
		return fuse.OK
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tell(f.child(n, l, i), out)
	return fuse.OK
}

// GetAttr tells the attributes of a file.
func (f *FS) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := f.node(in.NodeId)
	if n == nil {
		return fuse.ENOENT
	}
	if n.kind == named {
		return f.attrNamed(context.Background(), n, out)
	}
	f.attr(&out.Attr, n.meta, n.ino)
	out.SetTimeout(forever)
	return fuse.OK
}

// Open has nothing to remember: where it can, the kernel opens files by itself.
func (f *FS) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return open(out, fuse.FOPEN_KEEP_CACHE)
}

// OpenDir has nothing to remember.
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

// Flush has nothing to do: the kernel need not tell of every close.
func (f *FS) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

// StatFs tells of a file system on which nothing is free.
func (f *FS) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = 4096, 4096, 255
	return fuse.OK
}
