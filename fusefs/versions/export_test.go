//go:build linux || darwin

package versions

import "github.com/domarkx/domarkx"

// For the tests of what needs no mount.
const (
	BlockSize = blockSize
	MaxOpen   = maxOpen
)

// NewContents returns what keeps contents open.
var NewContents = newContents

// Read fills dst with what a content has from an offset on.
var Read = (*contents).read

// Close closes all.
var Close = (*contents).close

// NewBlocks returns a content that is read in blocks.
func NewBlocks(of domarkx.Content) domarkx.Content { return &blocks{of: of, last: -1} }

// Inode returns an inode number.
var Inode = inode
