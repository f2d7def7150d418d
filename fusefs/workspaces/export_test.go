//go:build linux || darwin

package workspaces

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
)

// For tests without a mount.
const (
	BlockSize = blockSize
	MaxOpen   = maxOpen
)

// NewContents returns a cache of open contents.
var NewContents = newContents

// Read fills dst with the bytes of a content from an offset.
var Read = (*contents).read

// Prepare reads a content ahead of a request.
var Prepare = (*contents).prepare

// Total returns the size that is counted for the cached contents, in bytes.
func Total(c *contents) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Close closes all contents.
var Close = (*contents).close

// NewReadAhead returns a content that reads another one in blocks.
func NewReadAhead(of domarkx.Content) domarkx.Content { return newReadAhead(of, new(sync.Pool)) }

// Borrow returns bytes of a content of NewReadAhead without copying them.
func Borrow(of domarkx.Content, off int64, size int) (fuse.ReadResult, error) {
	return of.(*readAhead).borrow(off, size)
}

// Inode returns an inode number.
var Inode = inode
