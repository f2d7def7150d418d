package fusefs

import "github.com/hanwen/go-fuse/v2/fuse"

func setBlockSize(out *fuse.Attr) { out.Blksize = 4096 }
