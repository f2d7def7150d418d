package odb

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fsyncModeFor returns the fastest mode that is known to be correct for the file system of a directory. ext2, ext3 and
// ext4 have the same magic number (statfs(2)); which of them has a journal, /proc/fs/jbd2 shows. On other file systems,
// such as Btrfs, an fsync covers only one file.
func fsyncModeFor(dir string) fsyncMode {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Statfs(dir, &fs) != nil || unix.Stat(dir, &st) != nil {
		return byFile
	}
	switch int64(fs.Type) {
	case unix.XFS_SUPER_MAGIC:
		return byJournal
	case unix.EXT4_SUPER_MAGIC:
		device := fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
		if link, err := os.Readlink(device); err == nil {
			// The journal inside a file system is its inode 8.
			if _, err := os.Stat("/proc/fs/jbd2/" + filepath.Base(link) + "-8"); err == nil {
				return byJournal
			}
		}
	}
	return byFile
}

// writeBack starts to write a file's content to the disk, or waits until it is written, perhaps only to the disk's
// cache (sync_file_range(2)).
func writeBack(f *os.File, wait bool) error {
	flags := unix.SYNC_FILE_RANGE_WRITE
	if wait {
		flags |= unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	}
	return os.NewSyscallError("sync_file_range", unix.SyncFileRange(int(f.Fd()), 0, 0, flags))
}
