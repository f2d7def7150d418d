//go:build linux || darwin

package fusefs

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A fixedNode is a directory whose names nobody can change, including root. The library
// reports success for operations that a node does not implement, so they are implemented
// here.
type fixedNode struct{ node }

// The operations that change a directory.
var (
	_ fs.NodeCreater   = (*fixedNode)(nil)
	_ fs.NodeMknoder   = (*fixedNode)(nil)
	_ fs.NodeMkdirer   = (*fixedNode)(nil)
	_ fs.NodeRmdirer   = (*fixedNode)(nil)
	_ fs.NodeUnlinker  = (*fixedNode)(nil)
	_ fs.NodeSymlinker = (*fixedNode)(nil)
	_ fs.NodeLinker    = (*fixedNode)(nil)
	_ fs.NodeRenamer   = (*fixedNode)(nil)
	_ fs.NodeSetattrer = (*fixedNode)(nil)
)

func (*fixedNode) Create(context.Context, string, uint32, uint32, *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.EROFS
}

func (*fixedNode) Mknod(context.Context, string, uint32, uint32, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EROFS
}

func (*fixedNode) Mkdir(context.Context, string, uint32, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EROFS
}

func (*fixedNode) Rmdir(context.Context, string) syscall.Errno { return syscall.EROFS }

func (*fixedNode) Unlink(context.Context, string) syscall.Errno { return syscall.EROFS }

func (*fixedNode) Symlink(context.Context, string, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EROFS
}

func (*fixedNode) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EROFS
}

func (*fixedNode) Rename(context.Context, string, fs.InodeEmbedder, string, uint32) syscall.Errno {
	return syscall.EROFS
}

func (*fixedNode) Setattr(context.Context, fs.FileHandle, *fuse.SetAttrIn, *fuse.AttrOut) syscall.Errno {
	return syscall.EROFS
}
