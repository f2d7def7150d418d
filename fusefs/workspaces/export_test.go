//go:build linux || darwin

package workspaces

// For tests without a mount.
const MaxOpen = maxOpen

// NewContents returns a cache of open contents.
var NewContents = newContents

// Read fills dst with the bytes of a content from an offset.
var Read = (*contents).read

// Total returns the size that is counted for the cached contents, in bytes.
func Total(c *contents) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Close closes all contents.
var Close = (*contents).close

// Inode returns an inode number.
var Inode = inode
