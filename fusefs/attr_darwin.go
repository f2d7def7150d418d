package fusefs

import "github.com/hanwen/go-fuse/v2/fuse"

// setBlockSize does nothing: the protocol has no block size on macOS.
func setBlockSize(*fuse.Attr) {}
