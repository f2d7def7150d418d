package workspaces

import "github.com/hanwen/go-fuse/v2/fuse"

// stateless says that the kernel can use files without an OPEN message.
const stateless = false

// setBlockSize does nothing: the protocol has no block size on macOS.
func setBlockSize(*fuse.Attr) {}
