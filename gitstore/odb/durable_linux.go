package odb

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// oneJournal reports whether the directory is on a file system where one fsync
// commits all that was written before: XFS, and ext4 when the kernel shows its
// journal (ext2 and ext4 without one have the same magic number).
func oneJournal(dir string) bool {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Statfs(dir, &fs) != nil || unix.Stat(dir, &st) != nil {
		return false
	}
	switch int64(fs.Type) {
	case unix.XFS_SUPER_MAGIC:
		return true
	case unix.EXT4_SUPER_MAGIC:
		link, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))))
		if err != nil {
			return false
		}
		// The journal inside a file system is its inode 8.
		_, err = os.Stat("/proc/fs/jbd2/" + filepath.Base(link) + "-8")
		return err == nil
	}
	return false
}

// writeBack starts writing a file's content to the disk, or waits until it is
// there (though perhaps in the disk's cache): sync_file_range(2).
func writeBack(f *os.File, wait bool) error {
	flags := unix.SYNC_FILE_RANGE_WRITE
	if wait {
		flags |= unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	}
	return os.NewSyscallError("sync_file_range", unix.SyncFileRange(int(f.Fd()), 0, 0, flags))
}
