//go:build linux || darwin

package fusefs

import (
	"bytes"
	"context"
	"path"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
)

// The kinds of a sessionsNode, and their directories.
const (
	snapshotsDir = "snapshots"
	messagesDir  = "messages"
)

// A sessionsNode is snapshots/ or messages/, a directory in it, or the directory of a session
// there.
type sessionsNode struct {
	fixedNode
	kind string
	path string // below the directory of the kind; "" for that itself
}

const latest = "latest"

func (n *sessionsNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	ctx = steady(ctx)
	name = spelled(name)
	tip, err := n.place(ctx, n.path)
	switch {
	case err != nil:
		return nil, n.fail("looking up "+n.kind, n.path, err)
	case tip.ID != "" && n.kind == messagesDir:
		return n.message(ctx, tip, name, out)
	case tip.ID != "":
		return n.snapshot(ctx, tip, name, out)
	}
	p := path.Join(n.path, name)
	if _, err := n.place(ctx, p); err != nil {
		return nil, n.fail("looking up "+n.kind, p, err)
	}
	return n.found(ctx, &sessionsNode{n.fixed(), n.kind, p}, number(n.kind, p), out)
}

func (n *sessionsNode) Readdir(ctx context.Context) (fs.DirStream, syscall.Errno) {
	entries, err := n.entries(steady(ctx))
	return n.listing(path.Join(n.kind, n.path), entries, err)
}

func (n *sessionsNode) entries(ctx context.Context) ([]fuse.DirEntry, error) {
	tip, err := n.place(ctx, n.path)
	switch {
	case err != nil:
		return nil, err
	case tip.ID != "" && n.kind == messagesDir:
		return n.listMessages(ctx, tip)
	case tip.ID != "":
		return n.listSnapshots(ctx, tip)
	}
	names, err := n.directories(ctx, n.path)
	entries := make([]fuse.DirEntry, len(names))
	for i, name := range names {
		entries[i] = fuse.DirEntry{Name: name, Ino: number(n.kind, path.Join(n.path, name)), Mode: syscall.S_IFDIR}
	}
	return entries, err
}

// snapshot returns the inode of a file in the directory of a session's snapshots.
func (n *sessionsNode) snapshot(ctx context.Context, tip domarkx.Info, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	for _, form := range forms {
		if name == latest+form.extension() {
			target := snapshotName(tip, form)
			child := &linkNode{node: node{view: n.view}, target: target, at: time.Unix(tip.Date, 0)}
			return n.found(ctx, child, number("latest", n.path, target), out)
		}
	}
	of, id, form, ok := parseSnapshotName(name)
	if !ok {
		return n.attached(ctx, n.path, tip, name, out)
	}
	history, err := n.history(ctx, n.path, tip.ID)
	if err != nil {
		return nil, n.fail("reading the history of a session", n.path, err)
	}
	info, ok := history.byID[id]
	if !ok || info.Number != of {
		return nil, syscall.ENOENT
	}
	size := info.Bytes
	if form == JSON {
		size = -1
	}
	return n.document(ctx, render{id, -1, form}, size, time.Unix(info.Date, 0), number("snapshot", n.path, name), out), 0
}

// A history lists the snapshots of a session up to one of them.
type history struct {
	all  []domarkx.Info
	byID map[string]domarkx.Info
}

func (v *view) history(ctx context.Context, name, tip string) (history, error) {
	return v.histories.Load(ctx, name+"\x00"+tip, func(ctx context.Context) (history, error) {
		all, err := v.Snapshots.History(ctx, name)
		h := history{all, make(map[string]domarkx.Info, len(all))}
		for _, info := range all {
			h.byID[info.ID] = info
		}
		return h, err
	})
}

func (n *sessionsNode) listSnapshots(ctx context.Context, tip domarkx.Info) ([]fuse.DirEntry, error) {
	h, err := n.history(ctx, n.path, tip.ID)
	if err != nil {
		return nil, err
	}
	entries := make([]fuse.DirEntry, 0, 2*len(h.all)+2)
	for _, info := range h.all {
		for _, form := range forms {
			name := snapshotName(info, form)
			entries = append(entries, fuse.DirEntry{Name: name, Ino: number("snapshot", n.path, name), Mode: syscall.S_IFREG})
		}
	}
	for _, form := range forms {
		entries = append(entries, fuse.DirEntry{Name: latest + form.extension(), Mode: syscall.S_IFLNK,
			Ino: number("latest", n.path, snapshotName(tip, form))})
	}
	attached, err := n.listAttached(ctx, n.path, tip, "")
	return append(entries, attached...), err
}

// document returns the inode of an immutable document or message in a directory. size is -1 if it
// is not known.
func (n *node) document(ctx context.Context, r render, size int64, at time.Time, ino uint64, out *fuse.EntryOut) *fs.Inode {
	if size < 0 {
		if known, ok := n.sizes.Get(r); ok {
			size = known
		}
	}
	child := &fixedFile{node: node{view: n.view}, name: r.String(), at: at, size: size}
	child.measure = func(ctx context.Context) (int64, error) {
		return n.sizes.Load(ctx, r, func(ctx context.Context) (int64, error) {
			if r.message < 0 {
				return n.Snapshots.Size(ctx, r.id, r.form)
			}
			data, err := n.rendered(ctx, r)
			return int64(len(data)), err
		})
	}
	child.open = func(ctx context.Context) (domarkx.Content, error) {
		data, err := n.rendered(ctx, r)
		return bytesContent{bytes.NewReader(data)}, err
	}
	out.SetEntryTimeout(forever)
	return child.entry(ctx, n, ino, 1, out)
}
