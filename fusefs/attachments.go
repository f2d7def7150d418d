//go:build linux || darwin

package fusefs

import (
	"context"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
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
	files, err := n.attachedFiles(ctx, tip.ID)
	if err != nil {
		return nil, n.fail("reading the list of attached files", session, err)
	}
	for _, f := range files {
		if f.Path == path {
			child := &attachedFileNode{fixedFile: fixedFile{node{view: n.view}}, snapshot: tip.ID, file: f, at: time.Unix(tip.Date, 0)}
			child.attr(&out.Attr, fileMode, f.Size, child.at)
			return n.NewInode(ctx, child, fs.StableAttr{Mode: syscall.S_IFREG, Ino: number("attached", session, path, f.SHA256), Gen: 1}), 0
		}
	}
	if !slices.ContainsFunc(files, func(f domarkx.AttachedFile) bool { return strings.HasPrefix(f.Path, path+"/") }) {
		return nil, syscall.ENOENT
	}
	n.attr(&out.Attr, dirMode, 0, n.started)
	child := &attachedNode{fixedNode: fixedNode{node{view: n.view}}, session: session, path: path}
	return n.NewInode(ctx, child, fs.StableAttr{Mode: syscall.S_IFDIR, Ino: number("attached", session, path+"/"), Gen: 1}), 0
}

// listAttached returns the names of the attached files and their directories below a path.
func (n *node) listAttached(ctx context.Context, session string, tip domarkx.Info, path string) ([]fuse.DirEntry, error) {
	files, err := n.attachedFiles(ctx, tip.ID)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if path != "" {
		prefix = path + "/"
	}
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

func (v *view) attachedFiles(ctx context.Context, snapshot string) ([]domarkx.AttachedFile, error) {
	if v.Attachments == nil {
		return nil, nil
	}
	return v.files.get(ctx, snapshot)
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
		return nil, n.fail("listing attached files", n.session, err)
	}
	entries, err := n.listAttached(ctx, n.session, tip, n.path)
	if err != nil {
		return nil, n.fail("listing attached files", n.session, err)
	}
	return fs.NewListDirStream(entries), 0
}

// An attachedFileNode is an attached file below snapshots/<name>/.
type attachedFileNode struct {
	fixedFile
	snapshot string
	file     domarkx.AttachedFile
	at       time.Time
}

func (n *attachedFileNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.attr(&out.Attr, fileMode, n.file.Size, n.at)
	out.SetTimeout(forever)
	return 0
}

func (n *attachedFileNode) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if modeOf(flags).Write {
		return nil, 0, syscall.EROFS
	}
	content, err := n.Attachments.Attachment(steady(ctx), n.snapshot, n.file.SHA256)
	if err != nil {
		return nil, 0, n.fail("opening an attached file", n.file.Path, err)
	}
	return &attachedHandle{n, content}, fuse.FOPEN_KEEP_CACHE, 0
}

// An attachedHandle is an open attached file.
type attachedHandle struct {
	of      *attachedFileNode
	content domarkx.Content
}

var (
	_ fs.FileReader   = (*attachedHandle)(nil)
	_ fs.FileReleaser = (*attachedHandle)(nil)
)

// Read returns a part of the content.
func (h *attachedHandle) Read(_ context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	got, err := h.content.ReadAt(dest, off)
	if err != nil && err != io.EOF {
		return nil, h.of.fail("reading an attached file", h.of.file.Path, err)
	}
	return fuse.ReadResultData(dest[:got]), 0
}

// Release closes the content.
func (h *attachedHandle) Release(context.Context) syscall.Errno {
	return h.of.fail("closing an attached file", h.of.file.Path, h.content.Close())
}
