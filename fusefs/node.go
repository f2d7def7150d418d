//go:build linux || darwin

package fusefs

import (
	"context"
	"hash/fnv"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/internal/recent"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// How long the kernel may cache data: forever, if it never changes (attributes of a file,
// everything below an object id); a moment, if each lookup refreshes it; always, if the
// entries of the root must not expire, because one of them is a mount point.
const (
	forever = 24 * time.Hour
	moment  = time.Second
	always  = 10 * 365 * 24 * time.Hour
)

// A view is the state that all nodes of a mount share.
type view struct {
	Options
	tree      *sessions.Tree
	documents recent.Cache[render, []byte] // the ones used last
	sizes     recent.Cache[render, int64]  // of many more
	histories recent.Cache[string, history]
	roles     recent.Cache[string, []domarkx.Role]
	versions  atomic.Pointer[workspaces.FS] // served as workspaces/
	uid, gid  uint32
	started   time.Time
	statfs    string // the directory whose file system statfs describes
}

// A node is the base of every file and directory of the mount.
type node struct {
	fs.Inode
	*view
}

// Statfs describes the file system that stores the drafts.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	var st syscall.Statfs_t
	if err := syscall.Statfs(n.view.statfs, &st); err != nil {
		return Errno(err)
	}
	out.FromStatfsT(&st)
	out.NameLen = 255
	return 0
}

// fail returns the errno(3) of an error, and logs an error that the caller did not cause.
func (v *view) fail(doing, what string, err error) syscall.Errno {
	errno := Errno(err)
	if errno == syscall.EIO {
		v.Logger.Error(doing, "what", what, "err", err)
	}
	return errno
}

// listing returns the entries of a directory, or the errno(3) of an error as fail does.
func (v *view) listing(what string, entries []fuse.DirEntry, err error) (fs.DirStream, syscall.Errno) {
	if errno := v.fail("listing a directory", what, err); errno != 0 {
		return nil, errno
	}
	return fs.NewListDirStream(entries), 0
}

// found returns the inode of a directory or link, with the attributes that it has.
func (n *node) found(ctx context.Context, child interface {
	fs.InodeEmbedder
	fs.NodeGetattrer
}, ino uint64, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	var a fuse.AttrOut
	if errno := child.Getattr(ctx, nil, &a); errno != 0 {
		return nil, errno
	}
	out.Attr = a.Attr
	out.SetAttrTimeout(a.Timeout())
	return n.NewInode(ctx, child, fs.StableAttr{Mode: a.Mode & syscall.S_IFMT, Ino: ino, Gen: 1}), 0
}

// number returns an inode number that depends only on the parts, so that it is the same
// in every mount.
func number(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return h.Sum64() | 1<<63 // package sessions uses numbers without this bit
}

func (v *view) attr(out *fuse.Attr, mode uint32, size int64, at time.Time) {
	out.Mode, out.Nlink = mode, 1
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		out.Nlink = 2
	}
	out.Uid, out.Gid = v.uid, v.gid
	setSize(out, size)
	out.SetTimes(&at, &at, &at)
}

func setSize(out *fuse.Attr, size int64) {
	out.Size = uint64(size)
	out.Blocks = (out.Size + 511) / 512
	workspaces.SetBlockSize(out)
}

func callerFrom(ctx context.Context) basis.Caller {
	if c, ok := fuse.FromContext(ctx); ok {
		return callerOf(c.Pid)
	}
	return basis.Caller{}
}

// steady returns a context that a signal to the caller does not cancel: programs do not
// expect EINTR from a file system, and most calls are short.
func steady(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

const (
	dirMode  = syscall.S_IFDIR | 0o555
	fileMode = syscall.S_IFREG | 0o444
	linkMode = syscall.S_IFLNK | 0o777
)

// A linkNode is a symbolic link that never changes.
type linkNode struct {
	node
	target string
	at     time.Time
}

var (
	_ fs.NodeGetattrer  = (*linkNode)(nil)
	_ fs.NodeReadlinker = (*linkNode)(nil)
)

func (n *linkNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.attr(&out.Attr, linkMode, int64(len(n.target)), n.at)
	out.SetTimeout(forever)
	return 0
}

func (n *linkNode) Readlink(context.Context) ([]byte, syscall.Errno) { return []byte(n.target), 0 }
