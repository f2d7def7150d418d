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
	if err := f.contents.read(context.Background(), n.key, n.meta.size, buf, off); err != nil {
		return nil, f.fail("reading a file of a version", n, "", err)
	}
	return fuse.ReadResultData(buf), fuse.OK
}
