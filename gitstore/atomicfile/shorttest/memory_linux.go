package shorttest

import "golang.org/x/sys/unix"

// shared is where Linux has a file system in memory for everybody (shm_open(3)).
const shared = "/dev/shm"

// hasMemory reports whether a directory is in memory, has room, and programs can be run in it.
func hasMemory(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.ST_NOEXEC == 0 &&
		fs.Bavail*uint64(fs.Bsize) >= enough
}
