//go:build linux || darwin

package fusefs

import (
	"bytes"
	"context"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A fixedNode is a directory whose names nobody can change, including root. The library
// reports success for operations that a node does not implement, so they are implemented
// here.
type fixedNode struct {
	node
	mode    uint32
	at      time.Time
	timeout time.Duration // for which the kernel may cache the attributes
}

// fixed returns the base of a directory without a time of its own.
func (v *view) fixed() fixedNode { return fixedNode{node{view: v}, dirMode, v.started, moment} }

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
	_ = []readable{(*fileNode)(nil), (*fixedFile)(nil)}

	_ fs.FileReader = (*fixedHandle)(nil)
)

func (n *fixedNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.attr(&out.Attr, n.mode, 0, n.at)
	out.SetTimeout(n.timeout)
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

// A fixedFile is a file that nobody can change.
type fixedFile struct {
	node
	name    string // in log entries
	at      time.Time
	size    int64                                              // -1 until known
	measure func(ctx context.Context) (int64, error)           // returns the size; nil if that is known
	open    func(ctx context.Context) (domarkx.Content, error) // is called for the first read
}

// bytesFile returns a small file.
func (v *view) bytesFile(data []byte, at time.Time) *fixedFile {
	open := func(context.Context) (domarkx.Content, error) { return bytesContent{bytes.NewReader(data)}, nil }
	return &fixedFile{node: node{view: v}, at: at, size: int64(len(data)), open: open}
}

type bytesContent struct{ *bytes.Reader }

func (bytesContent) Close() error { return nil }

// entry returns the inode of the file in a directory. If the size is unknown, the
// attributes expire at once, so that the kernel calls Getattr before it uses them.
func (n *fixedFile) entry(ctx context.Context, parent *node, ino, gen uint64, out *fuse.EntryOut) *fs.Inode {
	n.attr(&out.Attr, fileMode, max(n.size, 0), n.at)
	if n.size >= 0 {
		out.SetAttrTimeout(forever)
	}
	return parent.NewInode(ctx, n, fs.StableAttr{Mode: syscall.S_IFREG, Ino: ino, Gen: gen})
}

// Setattr fails: only sessions/ can change.
func (*fixedFile) Setattr(context.Context, fs.FileHandle, *fuse.SetAttrIn, *fuse.AttrOut) syscall.Errno {
	return syscall.EROFS
}

func (n *fixedFile) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	size := n.size
	if size < 0 {
		var err error
		if size, err = n.measure(steady(ctx)); err != nil {
			return n.fail("measuring", n.name, err)
		}
	}
	n.attr(&out.Attr, fileMode, size, n.at)
	out.SetTimeout(forever)
	return 0
}

func (n *fixedFile) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if modeOf(flags).Write {
		return nil, 0, syscall.EROFS
	}
	return &fixedHandle{of: n}, fuse.FOPEN_KEEP_CACHE, 0
}

// A fixedHandle is an open file. Its content, which holds memory and no file, stays while it is open, because the kernel
// reads a piece at a time.
type fixedHandle struct {
	of *fixedFile

	mu      sync.Mutex
	content domarkx.Content // nil before the first read
}

func (h *fixedHandle) opened(ctx context.Context) (domarkx.Content, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.content != nil {
		return h.content, nil
	}
	content, err := h.of.open(steady(ctx))
	if err == nil {
		h.content = content
	}
	return content, err
}

// Read returns a part of the content.
func (h *fixedHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	content, err := h.opened(ctx)
	if err != nil {
		return nil, h.of.fail("opening", h.of.name, err)
	}
	got, err := content.ReadAt(dest, off)
	if err != nil && err != io.EOF {
		return nil, h.of.fail("reading", h.of.name, err)
	}
	return fuse.ReadResultData(dest[:got]), 0
}
