//go:build linux || darwin

package workspaces

// For tests without a mount.
const MaxOpen = maxOpen

// NewContents returns a cache of open contents.
var NewContents = newContents

// Read fills dst with the bytes of a content from an offset.
var Read = (*contents).read

// Inode returns an inode number.
var Inode = inode
