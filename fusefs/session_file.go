//go:build linux || darwin

package fusefs

import (
	"context"
	"math"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// A fileNode is a file or symbolic link in sessions/. Its content changes only through the
// kernel, which may therefore cache it.
type fileNode struct {
	node
	file *sessions.File
}

var (
	_ fs.NodeReader     = (*fileNode)(nil)
	_ fs.NodeWriter     = (*fileNode)(nil)
	_ fs.NodeAllocater  = (*fileNode)(nil)
	_ fs.NodeFlusher    = (*fileNode)(nil)
	_ fs.NodeFsyncer    = (*fileNode)(nil)
	_ fs.NodeReleaser   = (*fileNode)(nil)
	_ fs.NodeReadlinker = (*fileNode)(nil)
)

func (n *fileNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	fill(&out.Attr, n.tree.Attr(n.file))
	out.SetTimeout(moment)
	return 0
}

func (n *fileNode) Setattr(ctx context.Context, fh fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if n.ReadOnly {
		return syscall.EROFS
	}
	if size, ok := in.GetSize(); ok {
		if size > math.MaxInt64 {
			return syscall.EFBIG
		}
		h, _ := fh.(*sessions.Handle)
		if err := n.tree.Truncate(steady(ctx), n.file, h, int64(size), callerFrom(ctx)); err != nil {
			return n.fail("truncating a file", "", err)
		}
	}
	if in.Valid&(fuse.FATTR_MODE|fuse.FATTR_UID|fuse.FATTR_GID|fuse.FATTR_ATIME|fuse.FATTR_MTIME) != 0 {
		n.tree.SetAttr(n.file, changeOf(in))
	}
	return n.Getattr(ctx, fh, out)
}

// changeOf sets the attributes other than the size that a request changes.
func changeOf(in *fuse.SetAttrIn) func(*sessions.Attributes) {
	return func(a *sessions.Attributes) {
		if mode, ok := in.GetMode(); ok {
			a.Mode = mode & 0o7777
		}
		if uid, ok := in.GetUID(); ok {
			a.UID = uid
		}
		if gid, ok := in.GetGID(); ok {
			a.GID = gid
		}
		if at, ok := in.GetATime(); ok {
			a.Accessed = at
		}
		if at, ok := in.GetMTime(); ok {
			a.Modified = at
		}
	}
}

func modeOf(flags uint32) sessions.Mode {
	access := flags & syscall.O_ACCMODE
	return sessions.Mode{
		Read:     access != syscall.O_WRONLY,
		Write:    access != syscall.O_RDONLY,
		Truncate: flags&syscall.O_TRUNC != 0 && access != syscall.O_RDONLY,
	}
}

func (n *fileNode) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	mode := modeOf(flags)
	h, err := n.tree.Open(steady(ctx), n.file, mode, callerFrom(ctx))
	if err != nil {
		return nil, 0, n.fail("opening a file", "", err)
	}
	keep := uint32(fuse.FOPEN_KEEP_CACHE)
	if !h.Writes() {
		keep |= fuse.FOPEN_NOFLUSH
	}
	return h, keep, 0
}

func (n *fileNode) Read(ctx context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	got, err := n.tree.Read(steady(ctx), n.file, dest, off)
	if err != nil {
		return nil, n.fail("reading a session", "", err)
	}
	return fuse.ReadResultData(dest[:got]), 0
}

func (n *fileNode) Write(ctx context.Context, fh fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	// The calling process matters only for truncating, so it is not looked up.
	if err := n.tree.Write(steady(ctx), n.file, nil, data, off, basis.Caller{}); err != nil {
		return 0, n.fail("writing to a session", "", err)
	}
	return uint32(len(data)), 0
}

// modes of fallocate(2)
const (
	allocateKeepSize  = 1
	allocatePunchHole = 2
)

func (n *fileNode) Allocate(ctx context.Context, _ fs.FileHandle, off, size uint64, mode uint32) syscall.Errno {
	if off > math.MaxInt64 || size > math.MaxInt64-off {
		return syscall.EFBIG
	}
	var err error
	switch mode {
	case allocateKeepSize:
	case 0:
		if end := int64(off + size); end > n.tree.Attr(n.file).Size {
			err = n.tree.Truncate(steady(ctx), n.file, nil, end, callerFrom(ctx))
		}
	case allocatePunchHole | allocateKeepSize:
		err = n.tree.Zero(steady(ctx), n.file, int64(off), int64(size), basis.Caller{})
	default:
		return syscall.ENOTSUP
	}
	return n.fail("allocating a file", "", err)
}

func (n *fileNode) Flush(ctx context.Context, fh fs.FileHandle) syscall.Errno {
	return n.store(fh, n.tree.Flush, callerFrom(ctx))
}

func (n *fileNode) Fsync(ctx context.Context, fh fs.FileHandle, _ uint32) syscall.Errno {
	return n.store(fh, n.tree.Sync, callerFrom(ctx))
}

func (n *fileNode) Release(_ context.Context, fh fs.FileHandle) syscall.Errno {
	return n.store(fh, n.tree.Release, basis.Caller{})
}

func (n *fileNode) store(fh fs.FileHandle, what func(*sessions.Handle, basis.Caller) error, c basis.Caller) syscall.Errno {
	h, ok := fh.(*sessions.Handle)
	if !ok {
		return 0
	}
	return n.fail("storing a save", "", what(h, c))
}

func (n *fileNode) Readlink(context.Context) ([]byte, syscall.Errno) {
	return []byte(n.file.Target()), 0
}
