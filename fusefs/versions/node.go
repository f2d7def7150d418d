//go:build linux || darwin

package versions

import (
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// forever is how long the kernel may keep what never changes.
const forever = 10 * 365 * 24 * time.Hour

const (
	dirMode  = syscall.S_IFDIR | 0o555
	linkMode = syscall.S_IFLNK | 0o777
	nobody   = 65534 // the user and the group
)

// A kind is what a node stands for.
type kind uint8

const (
	named   kind = iota // a folder of workspaces, or the folder of a workspace's versions
	loose               // the folder of all versions by their id
	newest              // the symbolic link to the newest version
	version             // a version: the folder of its resources
	inside              // a file or folder of a resource
)

// A node is something that the kernel knows, or has just asked for.
type node struct {
	kind   kind
	id     uint64 // the kernel's
	ino    uint64
	parent *node  // nil for the top
	name   string // in its parent
	slot   int    // in its parent's listing, of what never changes
	// key is the path of a folder of names, the target of the link to the newest, the
	// object id of a version, the id of the content of all else.
	key  string
	meta meta

	lookups uint64 // how often the kernel was told of it; guarded by FS.mu

	// of folders
	loading sync.Mutex
	listing *listing         // of what never changes, once it was read; set under loading and FS.mu
	live    map[string]*node // of what changes: the nodes in it that the kernel knows; guarded by FS.mu
	lists   []listed         // of what changes: how it was listed; guarded by FS.mu

	// for pushing content, guarded by FS.mu
	cached  bool // the kernel has the content
	misses  int  // of a folder: contents that the kernel asked for
	window  int  // of a folder: how many contents are pushed at once
	pushing bool // of a folder
	listed  bool // the kernel has listed it, or will soon
	folders int  // of a folder: folders in it that the kernel has listed
}

// A meta is the attributes of a node.
type meta struct {
	mode  uint32 // with the type
	links uint32
	rdev  uint32
	size  int64
	date  int64  // Unix seconds
	nanos uint32 // tells states of what changes apart
}

// attr fills in what programs see.
func (f *FS) attr(out *fuse.Attr, m meta, ino uint64) {
	out.Ino = ino
	out.Mode, out.Nlink, out.Rdev = m.mode, m.links, m.rdev
	out.Size = uint64(m.size)
	out.Blocks = (out.Size + 511) / 512
	setBlockSize(out)
	out.Uid, out.Gid = f.owner, f.owner
	sec := uint64(m.date)
	out.Atime, out.Mtime, out.Ctime = sec, sec, sec
	out.Atimensec, out.Mtimensec, out.Ctimensec = m.nanos, m.nanos, m.nanos
}

// ownerless returns the user that all files belong to. Git, among others, trusts
// what its own user owns: it must not be this one.
func ownerless() uint32 {
	if os.Geteuid() == nobody {
		return nobody - 1
	}
	return nobody
}

const fnvPrime = 1099511628211

// inode returns the inode number of what a parent has under a name: the same in
// every mount.
func inode(parent uint64, name string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a, without an allocation for each
	for i := range 8 {
		h = (h ^ uint64(byte(parent>>(8*i)))) * fnvPrime
	}
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * fnvPrime
	}
	if h > 1 && h != 0xffffffff { // the kernel takes that for an unknown one
		return h
	}
	return 2
}
