//go:build linux || darwin

package fusefs

import (
	"context"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// An errorsNode is errors/ or a directory in it.
type errorsNode struct {
	fixedNode
	path string // "" for errors/
}

func (v *view) errors(path string) *errorsNode {
	mode := uint32(dirMode)
	if !v.ReadOnly {
		mode |= 0o200
	}
	return &errorsNode{fixedNode{node{view: v}, mode, v.started, 0}, path}
}

func (n *errorsNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	p := path.Join(n.path, spelled(name))
	if session, ok := sessions.SessionOf(p); ok {
		if data, at, err := n.tree.SaveErrors(session); err == nil {
			// A changed text gets another inode, so that open files do not change.
			return n.bytesFile(data, at).entry(ctx, &n.node, number("errors", p), number(string(data)), out), 0
		}
	}
	if slices.Contains(n.tree.Drafts(), p) {
		return n.bytesFile([]byte(sessions.DraftProblem+"\n"), n.started).entry(ctx, &n.node, number("errors", p), 1, out), 0
	}
	if !slices.ContainsFunc(n.troubled(), func(s string) bool { return strings.HasPrefix(s, p+"/") }) {
		return nil, syscall.ENOENT
	}
	return n.found(ctx, n.errors(p), number("errors", p+"/"), out)
}

func (n *errorsNode) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	prefix := workspaces.Below(n.path)
	paths := n.troubled()
	var entries []fuse.DirEntry
	for _, name := range workspaces.Components(n.path, paths) {
		e := fuse.DirEntry{Name: name, Mode: syscall.S_IFREG, Ino: number("errors", prefix+name)}
		if !slices.Contains(paths, prefix+name) {
			e.Mode, e.Ino = syscall.S_IFDIR, number("errors", prefix+name+"/")
		}
		entries = append(entries, e)
	}
	return fs.NewListDirStream(entries), 0
}

// troubled returns the paths of all files below errors/, sorted.
func (n *errorsNode) troubled() []string {
	paths := n.tree.Drafts()
	for _, name := range n.tree.SessionsWithErrors() {
		paths = append(paths, name+sessions.Extension)
	}
	slices.Sort(paths)
	return paths
}

// Unlink dismisses the errors of a session.
func (n *errorsNode) Unlink(ctx context.Context, name string) syscall.Errno {
	ctx = steady(ctx)
	if n.ReadOnly {
		return syscall.EROFS
	}
	session, ok := sessions.SessionOf(path.Join(n.path, spelled(name)))
	if !ok {
		return syscall.EPERM
	}
	return n.fail("dismissing errors", session, n.tree.Dismiss(ctx, session))
}
