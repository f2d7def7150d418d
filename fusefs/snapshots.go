//go:build linux || darwin

package fusefs

import (
	"context"
	"strconv"
	"strings"
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
	p := joined(n.path, name)
	if _, err := n.place(ctx, p); err != nil {
		return nil, n.fail("looking up "+n.kind, p, err)
	}
	n.attr(&out.Attr, dirMode, 0, n.started)
	out.SetAttrTimeout(moment)
	return n.NewInode(ctx, &sessionsNode{fixedNode{node{view: n.view}}, n.kind, p}, fs.StableAttr{Mode: syscall.S_IFDIR, Ino: number(n.kind, p), Gen: 1}), 0
}

func (n *sessionsNode) Readdir(ctx context.Context) (fs.DirStream, syscall.Errno) {
	ctx = steady(ctx)
	tip, err := n.place(ctx, n.path)
	switch {
	case err != nil:
		return nil, n.fail("listing "+n.kind, n.path, err)
	case tip.ID != "" && n.kind == messagesDir:
		return n.listMessages(ctx, tip)
	case tip.ID != "":
		return n.listSnapshots(ctx, tip)
	}
	names, err := n.directories(ctx, n.path)
	if err != nil {
		return nil, n.fail("listing sessions", n.path, err)
	}
	entries := make([]fuse.DirEntry, len(names))
	for i, name := range names {
		entries[i] = fuse.DirEntry{Name: name, Ino: number(n.kind, joined(n.path, name)), Mode: syscall.S_IFDIR}
	}
	return fs.NewListDirStream(entries), 0
}

// snapshot returns the inode of a file in the directory of a session's snapshots.
func (n *sessionsNode) snapshot(ctx context.Context, tip domarkx.Info, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	for _, form := range []Form{Markdown, JSON} {
		if name == latest+form.extension() {
			target := snapshotName(tip, form)
			child := &linkNode{node: node{view: n.view}, target: target, at: time.Unix(tip.Date, 0)}
			child.attr(&out.Attr, linkMode, int64(len(target)), child.at)
			return n.NewInode(ctx, child, fs.StableAttr{Mode: syscall.S_IFLNK, Ino: number("latest", n.path, target), Gen: 1}), 0
		}
	}
	of, id, form, ok := parseSnapshotName(name)
	if !ok {
		return n.attached(ctx, n.path, tip, name, out)
	}
	history, err := n.histories.get(ctx, historyKey(n.path, tip.ID))
	if err != nil {
		return nil, n.fail("reading the history of a session", n.path, err)
	}
	info, ok := history.byID[id]
	if !ok || info.Number != of {
		return nil, syscall.ENOENT
	}
	child := &documentNode{fixedFile: fixedFile{node{view: n.view}}, render: render{id, -1, form}, at: time.Unix(info.Date, 0), size: -1}
	if form == Markdown {
		child.size = info.Bytes
	}
	return child.entry(ctx, &n.node, number("snapshot", n.path, name), out), 0
}

// A history lists the snapshots of a session up to one of them.
type history struct {
	all  []domarkx.Info
	byID map[string]domarkx.Info
}

func historyKey(name, tip string) string { return name + "\x00" + tip }

func (v *view) history(ctx context.Context, key string) (history, error) {
	name, _, _ := strings.Cut(key, "\x00")
	all, err := v.Snapshots.History(ctx, name)
	if err != nil {
		return history{}, err
	}
	h := history{all, make(map[string]domarkx.Info, len(all))}
	for _, info := range all {
		h.byID[info.ID] = info
	}
	return h, nil
}

func (n *sessionsNode) listSnapshots(ctx context.Context, tip domarkx.Info) (fs.DirStream, syscall.Errno) {
	h, err := n.histories.get(ctx, historyKey(n.path, tip.ID))
	if err != nil {
		return nil, n.fail("reading the history of a session", n.path, err)
	}
	entries := make([]fuse.DirEntry, 0, 2*len(h.all)+2)
	for _, info := range h.all {
		for _, form := range []Form{Markdown, JSON} {
			name := snapshotName(info, form)
			entries = append(entries, fuse.DirEntry{Name: name, Ino: number("snapshot", n.path, name), Mode: syscall.S_IFREG})
		}
	}
	for _, form := range []Form{Markdown, JSON} {
		entries = append(entries, fuse.DirEntry{Name: latest + form.extension(), Mode: syscall.S_IFLNK,
			Ino: number("latest", n.path, snapshotName(tip, form))})
	}
	attached, err := n.listAttached(ctx, n.path, tip, "")
	if err != nil {
		return nil, n.fail("listing attached files", n.path, err)
	}
	return fs.NewListDirStream(append(entries, attached...)), 0
}

// A documentNode is an immutable document or message.
type documentNode struct {
	fixedFile
	render render
	at     time.Time
	size   int64 // -1 until known
}

// entry returns the inode of a document in a directory. If the size is unknown, the
// attributes expire at once, so that the kernel calls Getattr before it uses them.
func (n *documentNode) entry(ctx context.Context, parent *node, ino uint64, out *fuse.EntryOut) *fs.Inode {
	if n.size < 0 {
		if size, ok := n.documents.size(n.render); ok {
			n.size = size
		}
	}
	n.attr(&out.Attr, fileMode, max(n.size, 0), n.at)
	if n.size >= 0 {
		out.SetAttrTimeout(forever)
	}
	out.SetEntryTimeout(forever)
	return parent.NewInode(ctx, n, fs.StableAttr{Mode: syscall.S_IFREG, Ino: ino, Gen: 1})
}

func (n *documentNode) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	ctx = steady(ctx)
	size, known := n.size, n.size >= 0
	if !known {
		size, known = n.documents.size(n.render)
	}
	if !known {
		var err error
		if size, err = n.measure(ctx); err != nil {
			return n.fail("measuring", n.render.String(), err)
		}
	}
	n.attr(&out.Attr, fileMode, size, n.at)
	out.SetTimeout(forever)
	return 0
}

// measure returns the size of a document or message, and caches it.
func (n *documentNode) measure(ctx context.Context) (int64, error) {
	if n.render.message >= 0 {
		data, err := n.documents.get(ctx, n.render)
		return int64(len(data)), err
	}
	size, err := n.Snapshots.Size(ctx, n.render.id, n.render.form)
	if err == nil {
		n.documents.measured(n.render, size)
	}
	return size, err
}

func (n *documentNode) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if modeOf(flags).Write {
		return nil, 0, syscall.EROFS
	}
	return &documentHandle{of: n}, fuse.FOPEN_KEEP_CACHE, 0
}

// String names the document or message in log entries.
func (r render) String() string {
	if r.message < 0 {
		return r.id + r.form.extension()
	}
	return r.id + "#" + strconv.Itoa(r.message) + r.form.extension()
}
