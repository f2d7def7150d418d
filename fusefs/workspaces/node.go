//go:build linux || darwin

package workspaces

import (
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// forever is the time that the kernel may cache what never changes.
const forever = 10 * 365 * 24 * time.Hour

const (
	dirMode  = syscall.S_IFDIR | 0o555
	linkMode = syscall.S_IFLNK | 0o777
	nobody   = 65534 // uid and gid
)

// A kind is the type of a node.
type kind uint8

const (
	kindDirectory kind = iota // a directory of workspaces, or of the versions of one
	kindByID                  // the directory of all versions by id
	kindLatest                // the symbolic link to the latest version
	kindVersion               // a version: the directory of its resources
	kindEntry                 // a file or directory of a resource
)

// A node is a file or directory that the kernel knows or is looking up.
type node struct {
	kind   kind
	id     uint64 // the kernel's
	ino    uint64
	parent *node  // nil for the root
	name   string // in its parent
	slot   int    // index in its parent's listing; kindEntry only
	// key is the path of a directory of workspaces, the target of the link to the latest
	// version, the object id of a version, or the content id of an entry.
	key  string
	meta meta

	lookups uint64 // references that the kernel holds; guarded by FS.mu

	// directories only
	loading sync.Mutex
	listing *listing         // immutable directories: nil until read; set under loading and FS.mu
	live    map[string]*node // mutable directories: the nodes in it that the kernel knows; guarded by FS.mu
	lists   []dirListing     // mutable directories: recent listings; guarded by FS.mu
}

// A meta holds the attributes of a node.
type meta struct {
	mode  uint32 // with the type
	links uint32
	rdev  uint32
	size  int64
	date  int64  // Unix seconds
	nanos uint32 // changes with the entries of a mutable directory
}

// attr fills in the attributes that programs see.
func (f *FS) attr(out *fuse.Attr, m meta, ino uint64) {
	out.Ino = ino
	out.Mode, out.Nlink, out.Rdev = m.mode, m.links, m.rdev
	out.Size = uint64(m.size)
	out.Blocks = (out.Size + 511) / 512
	SetBlockSize(out)
	out.Uid, out.Gid = f.owner, f.owner
	sec := uint64(m.date)
	out.Atime, out.Mtime, out.Ctime = sec, sec, sec
	out.Atimensec, out.Mtimensec, out.Ctimensec = m.nanos, m.nanos, m.nanos
}

// foreignOwner returns the user and group of all files. It is never the user of this
// process, because programs such as Git trust the files that their own user owns.
func foreignOwner() uint32 {
	if os.Geteuid() == nobody {
		return nobody - 1
	}
	return nobody
}

const fnvPrime = 1099511628211

// inode returns the inode number of a name below a parent. It is the same in every mount.
func inode(parent uint64, name string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a; hash/fnv would allocate
	for i := range 8 {
		h = (h ^ uint64(byte(parent>>(8*i)))) * fnvPrime
	}
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * fnvPrime
	}
	if h > 1 && h != 0xffffffff { // 0xffffffff stands for an unknown inode in the kernel
		return h
	}
	return 2
}
