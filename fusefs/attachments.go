//go:build linux || darwin

package fusefs

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// An attachedNode is a directory below snapshots/<name>/ with attached files of the
// session.
type attachedNode struct {
	fixedNode
	session string
	path    string // relative to snapshots/<name>/
}

// attached returns the inode of a session's attached file, or of a directory of attached
// files, at a path. tip is the session's newest snapshot.
func (n *node) attached(ctx context.Context, session string, tip domarkx.Info, path string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	files, err := n.tree.AttachedTo(ctx, tip.ID)
	if err != nil {
		return nil, n.fail("reading the list of attached files", session, err)
	}
	for _, f := range files {
		if f.Path == path {
			child := &fixedFile{node: node{view: n.view}, name: path, at: time.Unix(tip.Date, 0), size: f.Size}
			child.open = func(ctx context.Context) (domarkx.Content, error) {
				return n.Attachments.Attachment(ctx, tip.ID, f.SHA256)
			}
			return child.entry(ctx, n, number("attached", session, path, f.SHA256), 1, out), 0
		}
	}
	if !slices.ContainsFunc(files, func(f domarkx.AttachedFile) bool { return strings.HasPrefix(f.Path, path+"/") }) {
		return nil, syscall.ENOENT
	}
	child := &attachedNode{fixedNode: n.fixed(), session: session, path: path}
	return n.found(ctx, child, number("attached", session, path+"/"), out)
}

// listAttached returns the names of the attached files and their directories below a path.
func (n *node) listAttached(ctx context.Context, session string, tip domarkx.Info, path string) ([]fuse.DirEntry, error) {
	files, err := n.tree.AttachedTo(ctx, tip.ID)
	if err != nil {
		return nil, err
	}
	prefix := workspaces.Below(path)
	var entries []fuse.DirEntry
	seen := map[string]bool{}
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Path, prefix)
		if !ok {
			continue
		}
		name, _, deeper := strings.Cut(rest, "/")
		if seen[name] {
			continue
		}
		seen[name] = true
		e := fuse.DirEntry{Name: name, Mode: syscall.S_IFREG, Ino: number("attached", session, f.Path, f.SHA256)}
		if deeper {
			e.Mode, e.Ino = syscall.S_IFDIR, number("attached", session, prefix+name+"/")
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (n *attachedNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	ctx = steady(ctx)
	tip, err := n.Sessions.Info(ctx, n.session)
	if err != nil {
		return nil, n.fail("looking up an attached file", n.session, err)
	}
	return n.attached(ctx, n.session, tip, n.path+"/"+spelled(name), out)
}

func (n *attachedNode) Readdir(ctx context.Context) (fs.DirStream, syscall.Errno) {
	ctx = steady(ctx)
	tip, err := n.Sessions.Info(ctx, n.session)
	if err != nil {
		return n.listing(n.session, nil, err)
	}
	entries, err := n.listAttached(ctx, n.session, tip, n.path)
	return n.listing(n.session, entries, err)
}
