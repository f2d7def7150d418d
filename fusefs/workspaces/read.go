//go:build linux || darwin

package workspaces

import (
	"context"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const maxTarget = 4095 // bytes of the longest symbolic link target that the kernel accepts

// Readlink returns the target of a symbolic link.
func (f *FS) Readlink(_ <-chan struct{}, header *fuse.InHeader) ([]byte, fuse.Status) {
	n := f.node(header.NodeId)
	switch {
	case n == nil:
		return nil, fuse.ENOENT
	case n.kind == kindLatest:
		return []byte(n.key), fuse.OK
	case n.meta.mode != linkMode:
		return nil, fuse.EINVAL
	}
	target := make([]byte, min(n.meta.size, maxTarget))
	if err := f.contents.read(context.Background(), n.key, n.meta.size, target, 0); err != nil {
		return nil, f.fail("reading a symbolic link", n, "", err)
	}
	return target, fuse.OK
}

// Read returns a part of a file.
func (f *FS) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n := f.node(in.NodeId)
	if n == nil || n.kind != kindEntry {
		return nil, fuse.EBADF
	}
	off := min(int64(in.Offset), n.meta.size)
	buf = buf[:min(int64(len(buf)), n.meta.size-off)]
	if len(buf) == 0 {
		return fuse.ReadResultData(nil), fuse.OK
	}
	// Do this before the read, so that the prefetcher does not read the same content.
	f.prefetcher.noteRead(n, off == 0, off+int64(len(buf)) == n.meta.size)
	r, err := fuse.ReadResultData(buf), error(nil)
	if int64(len(buf)) == n.meta.size && n.meta.size < largeFrom {
		err = readWhole(context.Background(), f.config.Contents.Content, n.key, buf)
	} else {
		r, err = f.contents.reply(context.Background(), n.key, n.meta.size, buf, off)
	}
	if err != nil {
		return nil, f.fail("reading a file of a version", n, "", err)
	}
	return r, fuse.OK
}
