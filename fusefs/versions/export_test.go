//go:build linux || darwin

package versions

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx"
)

// For the tests of what needs no mount.
const (
	BlockSize = blockSize
	MaxOpen   = maxOpen
)

// NewContents returns what keeps contents open.
var NewContents = newContents

// Read fills dst with what a content has from an offset on.
var Read = (*contents).read

// Prepare reads a content before it is wanted.
var Prepare = (*contents).prepare

// Close closes all.
var Close = (*contents).close

// NewBlocks returns a content that is read in blocks.
func NewBlocks(of domarkx.Content) domarkx.Content { return newBlocks(of, new(sync.Pool)) }

// Lend returns bytes of a content that NewBlocks returned, where they are.
func Lend(of domarkx.Content, off int64, size int) (fuse.ReadResult, error) {
	return of.(*blocks).lend(off, size)
}

// Inode returns an inode number.
var Inode = inode
