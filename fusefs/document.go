//go:build linux || darwin

package fusefs

import (
	"context"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A documentHandle is an open document. It is rendered for the first read and stays in
// memory while it is open, because the kernel reads a piece at a time.
type documentHandle struct {
	of *documentNode

	mu   sync.Mutex
	data []byte
	read bool
}

var _ fs.FileReader = (*documentHandle)(nil)

// Read returns a part of the document.
func (h *documentHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	ctx = steady(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.read {
		data, err := h.of.documents.get(ctx, h.of.render)
		if err != nil {
			return nil, h.of.fail("rendering", h.of.render.String(), err)
		}
		h.data, h.read = data, true
	}
	return fuse.ReadResultData(part(h.data, dest, off)), 0
}
