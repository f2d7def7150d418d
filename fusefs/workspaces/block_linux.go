package workspaces

import "github.com/hanwen/go-fuse/v2/fuse"

// stateless reports whether the kernel can use files without OPEN messages.
const stateless = true

// SetBlockSize sets the block size that stat(2) returns.
func SetBlockSize(out *fuse.Attr) { out.Blksize = 4096 }
