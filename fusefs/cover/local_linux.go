package cover

import (
	"errors"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"
)

// elsewhere is the types of file systems (statfs(2)) that are of other machines, or of a
// program that may be one's: a lock on what they hold may be known on this machine alone.
var elsewhere = []uint32{
	unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.NCP_SUPER_MAGIC,
	unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC,
	unix.OCFS2_SUPER_MAGIC,
	0x01161970, // GFS2
	0x0bd00bd0, // Lustre
	0x19830326, // BeeGFS
	0x20030528, // OrangeFS
	0x47504653, // GPFS
	0x786f4256, // VirtualBox's shared folders
}

// local returns an error, errors.ErrUnsupported, when a folder is not on a file system of
// this machine alone.
func local(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if slices.Contains(elsewhere, uint32(st.Type)) {
		return &fs.PathError{Op: "unpacking on a network file system", Path: dir, Err: errors.ErrUnsupported}
	}
	return nil
}
