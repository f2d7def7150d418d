package workspaces

import "github.com/hanwen/go-fuse/v2/fuse"

// stateless reports whether the kernel can use files without OPEN messages.
const stateless = false

// SetBlockSize does nothing: the protocol has no block size on macOS.
func SetBlockSize(*fuse.Attr) {}
