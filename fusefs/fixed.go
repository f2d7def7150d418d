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

// The library ignores operations that a node lacks, so the compiler checks them here.
type (
	changeable interface {
		fs.NodeCreater
		fs.NodeMknoder
		fs.NodeMkdirer
		fs.NodeRmdirer
		fs.NodeUnlinker
		fs.NodeSymlinker
		fs.NodeLinker
		fs.NodeRenamer
		fs.NodeSetattrer
	}
	listable interface {
		fs.NodeLookuper
		fs.NodeReaddirer
		fs.NodeGetattrer
		fs.NodeStatfser
	}
	readable interface {
		fs.NodeGetattrer
		fs.NodeSetattrer
		fs.NodeOpener
		fs.NodeStatfser
	}
)

var (
	_ = []changeable{(*fixedNode)(nil), (*directoryNode)(nil)}
	_ = []listable{(*directoryNode)(nil), (*sessionsNode)(nil), (*attachedNode)(nil), (*messageNode)(nil), (*errorsNode)(nil)}
	_ = []readable{(*fileNode)(nil), (*documentNode)(nil), (*attachedFileNode)(nil), (*bytesNode)(nil)}

	_ fs.NodeReader = (*bytesNode)(nil)
)

// Getattr is that of a directory without a time of its own.
func (n *fixedNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.attr(&out.Attr, dirMode, 0, n.started)
	out.SetTimeout(moment)
	return 0
}

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

// A fixedFile is the base of a file that nobody can change.
type fixedFile struct{ node }

// Setattr fails: only sessions/ can change.
func (*fixedFile) Setattr(context.Context, fs.FileHandle, *fuse.SetAttrIn, *fuse.AttrOut) syscall.Errno {
	return syscall.EROFS
}
