//go:build linux || darwin

package fusefs

import (
	"context"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// message returns the inode of a directory in that of a session's messages.
func (n *sessionsNode) message(ctx context.Context, tip domarkx.Info, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	k, role, ok := workspaces.ParseName(name)
	if !ok {
		return nil, syscall.ENOENT
	}
	roles, err := n.rolesOf(ctx, tip)
	if err != nil {
		return nil, n.fail("reading the roles of a session", n.path, err)
	}
	if k >= len(roles) || string(roles[k]) != role {
		return nil, syscall.ENOENT
	}
	child := &messageNode{fixedNode{node{view: n.view}, dirMode, time.Unix(tip.Date, 0), forever}, n.path, tip, k}
	return n.found(ctx, child, messageNumber(tip.ID, k), out)
}

func (n *sessionsNode) rolesOf(ctx context.Context, tip domarkx.Info) ([]domarkx.Role, error) {
	return n.roles.Load(ctx, tip.ID, func(ctx context.Context) ([]domarkx.Role, error) { return n.Snapshots.Roles(ctx, tip.ID) })
}

func messageNumber(id string, k int) uint64 { return number("message", id, strconv.Itoa(k)) }

func (n *sessionsNode) listMessages(ctx context.Context, tip domarkx.Info) ([]fuse.DirEntry, error) {
	roles, err := n.rolesOf(ctx, tip)
	entries := make([]fuse.DirEntry, len(roles))
	for k, role := range roles {
		entries[k] = fuse.DirEntry{Name: fmt.Sprintf("%04d-%s", k, role), Ino: messageNumber(tip.ID, k), Mode: syscall.S_IFDIR}
	}
	return entries, err
}

// A messageNode is the directory of one message of a snapshot.
type messageNode struct {
	fixedNode
	session string
	tip     domarkx.Info
	k       int
}

const (
	messageFile   = "message"
	workspaceLink = "workspace"
)

func (n *messageNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	for _, form := range forms {
		if name == messageFile+form.extension() {
			return n.document(ctx, render{n.tip.ID, n.k, form}, -1, n.at, n.number(form.extension()), out), 0
		}
	}
	if name == workspaceLink {
		return n.workspace(steady(ctx), out)
	}
	return nil, syscall.ENOENT
}

// workspace returns the inode of the symbolic link from a message to its version.
func (n *messageNode) workspace(ctx context.Context, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	target, err := n.workspaceOf(ctx, n.session, n.tip, n.k)
	if err != nil {
		return nil, n.fail("looking for the workspace of a message", n.session, err)
	}
	if target == "" {
		return nil, syscall.ENOENT
	}
	child := &linkNode{node: node{view: n.view}, target: target, at: n.at}
	return n.found(ctx, child, n.number(target), out)
}

// number returns that of a file by its extension, or of the link by its target.
func (n *messageNode) number(of string) uint64 {
	return number("message", n.tip.ID, strconv.Itoa(n.k), of)
}

func (n *messageNode) Readdir(ctx context.Context) (fs.DirStream, syscall.Errno) {
	var entries []fuse.DirEntry
	for _, form := range forms {
		entries = append(entries, fuse.DirEntry{Name: messageFile + form.extension(), Ino: n.number(form.extension()), Mode: syscall.S_IFREG})
	}
	target, err := n.workspaceOf(steady(ctx), n.session, n.tip, n.k)
	if target != "" {
		entries = append(entries, fuse.DirEntry{Name: workspaceLink, Ino: n.number(target), Mode: syscall.S_IFLNK})
	}
	return n.listing(n.session, entries, err)
}
