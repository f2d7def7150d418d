//go:build linux || darwin

package fusefs

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/fusefs/sessions"
)

// A directoryNode is sessions/ or a directory in it.
type directoryNode struct {
	node
	directory *sessions.Directory
}

var _ fs.NodeFsyncer = (*directoryNode)(nil)

func (n *directoryNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	f, sub, err := n.tree.Lookup(steady(ctx), n.directory, spelled(name))
	return n.entry(ctx, f, sub, out), n.fail("looking up a session", name, err)
}

// entry returns the inode of a file or directory, or nil if both are.
func (n *directoryNode) entry(ctx context.Context, f *sessions.File, sub *sessions.Directory, out *fuse.EntryOut) *fs.Inode {
	var child fs.InodeEmbedder
	var a sessions.Attr
	switch {
	case sub != nil:
		child, a = &directoryNode{node: node{view: n.view}, directory: sub}, n.tree.DirectoryAttr(sub)
	case f != nil:
		child, a = &fileNode{node: node{view: n.view}, file: f}, n.tree.Attr(f)
	default:
		return nil
	}
	fill(&out.Attr, a)
	out.SetAttrTimeout(moment)
	return n.NewInode(ctx, child, fs.StableAttr{Mode: a.Kind, Ino: a.Ino, Gen: a.Gen})
}

func fill(out *fuse.Attr, a sessions.Attr) {
	out.Mode, out.Ino, out.Nlink = a.Kind|a.Mode, a.Ino, a.Links
	out.Uid, out.Gid = a.UID, a.GID
	setSize(out, a.Size)
	out.SetTimes(&a.Accessed, &a.Modified, &a.Changed)
}

func (n *directoryNode) Readdir(ctx context.Context) (fs.DirStream, syscall.Errno) {
	found, err := n.tree.List(steady(ctx), n.directory)
	entries := make([]fuse.DirEntry, len(found))
	for i, e := range found {
		entries[i] = fuse.DirEntry{Name: e.Name, Ino: e.Ino, Mode: e.Kind}
	}
	return n.listing("sessions", entries, err)
}

func (n *directoryNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	fill(&out.Attr, n.tree.DirectoryAttr(n.directory))
	out.SetTimeout(moment)
	return 0
}

func (n *directoryNode) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.tree.SetDirectoryAttr(n.directory, changeOf(in))
	return n.Getattr(ctx, nil, out)
}

func (n *directoryNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	f, h, err := n.tree.Create(steady(ctx), n.directory, spelled(name), mode&0o7777, flags&syscall.O_EXCL != 0, modeOf(flags), callerFrom(ctx))
	if err != nil {
		return nil, nil, 0, n.fail("creating a file", name, err)
	}
	return n.entry(ctx, f, nil, out), h, fuse.FOPEN_KEEP_CACHE, 0
}

// Mknod creates regular files. Devices, pipes and sockets are not supported.
func (n *directoryNode) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if kind := mode & syscall.S_IFMT; kind != syscall.S_IFREG && kind != 0 {
		return nil, syscall.EPERM
	}
	f, err := n.tree.Make(steady(ctx), n.directory, spelled(name), mode&0o7777, callerFrom(ctx))
	if err != nil {
		return nil, n.fail("creating a file", name, err)
	}
	return n.entry(ctx, f, nil, out), 0
}

func (n *directoryNode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	sub, err := n.tree.Mkdir(steady(ctx), n.directory, spelled(name), mode)
	return n.entry(ctx, nil, sub, out), n.fail("creating a directory", name, err)
}

func (n *directoryNode) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.fail("removing a directory", name, n.tree.Rmdir(steady(ctx), n.directory, spelled(name)))
}

func (n *directoryNode) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.fail("removing a file", name, n.tree.Unlink(steady(ctx), n.directory, spelled(name)))
}

func (n *directoryNode) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	f, err := n.tree.Symlink(steady(ctx), n.directory, spelled(name), target)
	return n.entry(ctx, f, nil, out), n.fail("creating a symbolic link", name, err)
}

func (n *directoryNode) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	of, ok := target.(*fileNode)
	if !ok {
		return nil, syscall.EPERM
	}
	if err := n.tree.Link(steady(ctx), of.file, n.directory, spelled(name), callerFrom(ctx)); err != nil {
		return nil, n.fail("creating a link", name, err)
	}
	return n.entry(ctx, of.file, nil, out), 0
}

func (n *directoryNode) Rename(ctx context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := parent.(*directoryNode)
	if !ok {
		return syscall.EXDEV
	}
	how := sessions.Replacing(flags)
	if how > sessions.Exchange {
		return syscall.EINVAL
	}
	name, newName = spelled(name), spelled(newName)
	return n.fail("renaming", name, n.tree.Rename(steady(ctx), n.directory, name, to.directory, newName, how, callerFrom(ctx)))
}

// Fsync does nothing: names are durable when the call that changes them returns.
func (n *directoryNode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }
