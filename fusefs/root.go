//go:build linux || darwin

package fusefs

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/fusefs/mountpoint"
)

// readme is MNT/README.md.
const readme = `# Sessions as files

sessions/<name>.md                    a session. Edit it with anything; each save is
                                      a new snapshot. A new .md file is a new session,
                                      rm moves a session to the trash
                                      (git domarkx restore NAME), mv renames it.
snapshots/<name>/<NNNN>-<oid>.md      every snapshot, read-only; also as .json.
                                      latest.md and latest.json are the newest.
messages/<name>/<NNNN>-<role>/        each message of a session as message.md and
                                      message.json; NNNN counts from 0000. workspace
                                      leads to the version of the workspace that its
                                      calls left.
workspaces/<name>/<NNNN>-<oid>/       every version of a workspace, read-only, with a
                                      directory for each resource; latest is the newest.
errors/<name>.md                      a save that is not in the session as it was
                                      saved: why, and the saved bytes. It disappears
                                      when the session is corrected.

A save is safe when the program that saved has closed the file; the snapshot
follows within a second. An image that is saved beside a session is kept once the
session shows it. Any other file stays on this machine as a draft, which errors/
lists. Files whose names begin with a dot, or end in ~, .swp, .tmp or .bak, are
temporary files of editors: they disappear when this directory is unmounted.
`

// ignored is MNT/.ignore and MNT/.gitignore, for programs that search or index. The
// ignored directories repeat the contents of sessions/ many times, and each of their
// files is rendered when it is read.
const ignored = `# These directories repeat the contents of sessions/, once for each snapshot.
/messages/
/snapshots/
/workspaces/
`

// A rootNode is the root of the mount.
type rootNode struct{ fixedNode }

var (
	_ fs.NodeOnAdder   = (*rootNode)(nil)
	_ fs.NodeLookuper  = (*rootNode)(nil)
	_ fs.NodeGetattrer = (*rootNode)(nil)
	_ fs.NodeStatfser  = (*rootNode)(nil)
)

// OnAdd adds the fixed entries.
func (n *rootNode) OnAdd(ctx context.Context) {
	add := func(name string, child fs.InodeEmbedder, mode uint32) {
		n.AddChild(name, n.NewPersistentInode(ctx, child, fs.StableAttr{Mode: mode, Ino: number(name), Gen: 1}), true)
	}
	add("README.md", n.bytesFile([]byte(readme), n.started), syscall.S_IFREG)
	for _, name := range []string{".ignore", ".gitignore"} {
		add(name, n.bytesFile([]byte(ignored), n.started), syscall.S_IFREG)
	}
	add("sessions", &directoryNode{node: node{view: n.view}, directory: n.tree.Root()}, syscall.S_IFDIR)
	for _, kind := range []string{snapshotsDir, messagesDir} {
		add(kind, &sessionsNode{fixedNode: n.fixed(), kind: kind}, syscall.S_IFDIR)
	}
	switch {
	case n.Workspaces == nil:
	case n.Beside != "":
		add(mountpoint.Workspaces, &linkNode{node: node{view: n.view}, target: n.Beside, at: n.started}, syscall.S_IFLNK)
	default:
		// This is empty, for the mount of the workspaces. fusermount(1) requires it to be writable for its user.
		add(mountpoint.Workspaces, &fixedNode{node{view: n.view}, syscall.S_IFDIR | 0o755, n.started, always}, syscall.S_IFDIR)
	}
	add("errors", n.errors(""), syscall.S_IFDIR)
}

// Lookup looks up a fixed entry.
func (n *rootNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	child := n.GetChild(name)
	if child == nil {
		return nil, syscall.ENOENT
	}
	var a fuse.AttrOut
	if errno := child.Operations().(fs.NodeGetattrer).Getattr(ctx, nil, &a); errno != 0 {
		return nil, errno
	}
	out.Attr = a.Attr
	out.SetAttrTimeout(moment)
	out.SetEntryTimeout(always)
	return child, 0
}
