//go:build linux || darwin

package fusefs

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/fusefs/sessions"
)

// A folderNode is sessions/ or a directory in it.
type folderNode struct {
	node
	folder *sessions.Folder
}

var (
	_ fs.NodeLookuper  = (*folderNode)(nil)
	_ fs.NodeReaddirer = (*folderNode)(nil)
	_ fs.NodeGetattrer = (*folderNode)(nil)
	_ fs.NodeSetattrer = (*folderNode)(nil)
	_ fs.NodeCreater   = (*folderNode)(nil)
	_ fs.NodeMknoder   = (*folderNode)(nil)
	_ fs.NodeMkdirer   = (*folderNode)(nil)
	_ fs.NodeRmdirer   = (*folderNode)(nil)
	_ fs.NodeUnlinker  = (*folderNode)(nil)
	_ fs.NodeSymlinker = (*folderNode)(nil)
	_ fs.NodeLinker    = (*folderNode)(nil)
	_ fs.NodeRenamer   = (*folderNode)(nil)
	_ fs.NodeFsyncer   = (*folderNode)(nil)
	_ fs.NodeStatfser  = (*folderNode)(nil)
)

func (n *folderNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	ctx = steady(ctx)
	name = spelled(name)
	f, sub, err := n.tree.Lookup(ctx, n.folder, name)
	switch {
	case err != nil:
		return nil, n.fail("looking up a session", name, err)
	case sub != nil:
		return n.child(ctx, sub, out), 0
	}
	return n.file(ctx, f, out), 0
}

// child returns the inode of a directory and its attributes.
func (n *folderNode) child(ctx context.Context, sub *sessions.Folder, out *fuse.EntryOut) *fs.Inode {
	a := n.tree.FolderAttr(sub)
	fillFolder(&out.Attr, a)
	out.SetAttrTimeout(moment)
	return n.NewInode(ctx, &folderNode{node: node{view: n.view}, folder: sub}, fs.StableAttr{Mode: syscall.S_IFDIR, Ino: a.Ino, Gen: a.Gen})
}

// file returns the inode of a file and its attributes.
func (n *folderNode) file(ctx context.Context, f *sessions.File, out *fuse.EntryOut) *fs.Inode {
	a := n.tree.Attr(f)
	fillFile(&out.Attr, a)
	out.SetAttrTimeout(moment)
	mode := uint32(syscall.S_IFREG)
	if a.Symlink {
		mode = syscall.S_IFLNK
	}
	return n.NewInode(ctx, &fileNode{node: node{view: n.view}, file: f}, fs.StableAttr{Mode: mode, Ino: a.Ino, Gen: a.Gen})
}

func fillFolder(out *fuse.Attr, a sessions.Attr) {
	fill(out, a)
	out.Mode = syscall.S_IFDIR | a.Mode
}

func fillFile(out *fuse.Attr, a sessions.Attr) {
	fill(out, a)
	out.Mode = syscall.S_IFREG | a.Mode
	if a.Symlink {
		out.Mode = syscall.S_IFLNK | a.Mode
	}
}

func fill(out *fuse.Attr, a sessions.Attr) {
	out.Ino, out.Nlink = a.Ino, a.Links
	out.Uid, out.Gid = a.UID, a.GID
	setSize(out, a.Size)
	out.SetTimes(&a.Accessed, &a.Modified, &a.Changed)
}

func (n *folderNode) Readdir(ctx context.Context) (fs.DirStream, syscall.Errno) {
	ctx = steady(ctx)
	found, err := n.tree.List(ctx, n.folder)
	if err != nil {
		return nil, n.fail("listing sessions", "", err)
	}
	entries := make([]fuse.DirEntry, len(found))
	for i, e := range found {
		entries[i] = fuse.DirEntry{Name: e.Name, Ino: e.Ino, Mode: syscall.S_IFREG}
		switch {
		case e.Folder:
			entries[i].Mode = syscall.S_IFDIR
		case e.Symlink:
			entries[i].Mode = syscall.S_IFLNK
		}
	}
	return fs.NewListDirStream(entries), 0
}

func (n *folderNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	fillFolder(&out.Attr, n.tree.FolderAttr(n.folder))
	out.SetTimeout(moment)
	return 0
}

func (n *folderNode) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.tree.SetFolderAttr(n.folder, changeOf(in))
	return n.Getattr(ctx, nil, out)
}

func (n *folderNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	ctx = steady(ctx)
	name = spelled(name)
	f, h, err := n.tree.Create(ctx, n.folder, name, mode&0o7777, flags&syscall.O_EXCL != 0, modeOf(flags), callerFrom(ctx))
	if err != nil {
		return nil, nil, 0, n.fail("making a file", name, err)
	}
	return n.file(ctx, f, out), h, fuse.FOPEN_KEEP_CACHE, 0
}

// Mknod creates regular files. Devices, pipes and sockets are not supported.
func (n *folderNode) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	ctx = steady(ctx)
	if kind := mode & syscall.S_IFMT; kind != syscall.S_IFREG && kind != 0 {
		return nil, syscall.EPERM
	}
	name = spelled(name)
	f, err := n.tree.Make(ctx, n.folder, name, mode&0o7777, callerFrom(ctx))
	if err != nil {
		return nil, n.fail("making a file", name, err)
	}
	return n.file(ctx, f, out), 0
}

func (n *folderNode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	ctx = steady(ctx)
	name = spelled(name)
	sub, err := n.tree.Mkdir(ctx, n.folder, name, mode)
	if err != nil {
		return nil, n.fail("making a folder", name, err)
	}
	return n.child(ctx, sub, out), 0
}

func (n *folderNode) Rmdir(ctx context.Context, name string) syscall.Errno {
	ctx = steady(ctx)
	name = spelled(name)
	return n.fail("removing a folder", name, n.tree.Rmdir(ctx, n.folder, name))
}

func (n *folderNode) Unlink(ctx context.Context, name string) syscall.Errno {
	ctx = steady(ctx)
	name = spelled(name)
	return n.fail("removing a file", name, n.tree.Unlink(ctx, n.folder, name))
}

func (n *folderNode) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	ctx = steady(ctx)
	name = spelled(name)
	f, err := n.tree.Symlink(ctx, n.folder, name, target)
	if err != nil {
		return nil, n.fail("making a symbolic link", name, err)
	}
	return n.file(ctx, f, out), 0
}

func (n *folderNode) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	ctx = steady(ctx)
	of, ok := target.(*fileNode)
	if !ok {
		return nil, syscall.EPERM
	}
	name = spelled(name)
	if err := n.tree.Link(ctx, of.file, n.folder, name, callerFrom(ctx)); err != nil {
		return nil, n.fail("making a link", name, err)
	}
	return n.file(ctx, of.file, out), 0
}

// flags of renameat2(2)
const (
	renameNoReplace = 1
	renameExchange  = 2
)

func (n *folderNode) Rename(ctx context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	ctx = steady(ctx)
	to, ok := parent.(*folderNode)
	if !ok {
		return syscall.EXDEV
	}
	how := sessions.Replace
	switch flags {
	case 0:
	case renameNoReplace:
		how = sessions.NoReplace
	case renameExchange:
		how = sessions.Exchange
	default:
		return syscall.EINVAL
	}
	name, newName = spelled(name), spelled(newName)
	return n.fail("renaming", name, n.tree.Rename(ctx, n.folder, name, to.folder, newName, how, callerFrom(ctx)))
}

// Fsync does nothing: names are durable when the call that changes them returns.
func (n *folderNode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }
