package cover

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// cached is RESOLVE_CACHED of openat2(2): without a message to the server, or not at
	// all.
	cached = 0x20
	// inodeAndGeneration is FILEID_INO64_GEN of the kernel (linux/exportfs.h): how FUSE
	// spells what it knows a file by.
	inodeAndGeneration = 0x81
	tries              = 8 // until what another process just changes stands still
)

// detached returns a mount of an open file that is nowhere yet: read-only, and its times
// stay.
func detached(fd int) (int, error) {
	tree, err := unix.OpenTree(fd, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("making a mount of a file: %w", err)
	}
	err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{
		Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOATIME,
		// Programs of a version run, wherever the repository is.
		Attr_clr:    unix.MOUNT_ATTR__ATIME | unix.MOUNT_ATTR_NOEXEC,
		Propagation: unix.MS_PRIVATE,
	})
	if err != nil {
		return -1, errors.Join(fmt.Errorf("making the mount of a file read-only: %w", err), unix.Close(tree))
	}
	return tree, nil
}

// attach mounts what detached returned over a file.
func (m Mount) attach(tree int, at Place) error {
	fd, st, err := m.find(at)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !m.has(st) {
		return fmt.Errorf("covering %q: something is mounted over it", at.Name)
	}
	err = unix.MoveMount(tree, "", fd, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("mounting a file over %q: %w", at.Name, err)
	}
	return nil
}

// Covered reports whether something is mounted over a file.
func (m Mount) Covered(at Place) (bool, error) {
	fd, st, err := m.find(at)
	if err != nil {
		return false, err
	}
	return !m.has(st), unix.Close(fd)
}

// Uncover takes the file away from over another one. Who has it open goes on reading it.
// One that is there no more is right. With an error it may still be there, because it
// cannot be reached now.
func (c *File) Uncover(m Mount, at Place) error {
	fd, st, err := m.find(at)
	if err == nil {
		defer unix.Close(fd)
		switch {
		case m.has(st):
			return nil
		case st.Ino == c.written.Ino && unix.Mkdev(st.Dev_major, st.Dev_minor) == uint64(c.written.Dev):
			err = unix.Unmount("/proc/self/fd/"+strconv.Itoa(fd), unix.MNT_DETACH)
		default:
			err = errors.New("something else is mounted over it")
		}
	}
	if err == nil || !c.Mounted() {
		return nil
	}
	return fmt.Errorf("unmounting what is over %q: %w", at.Name, err)
}

// Mounted reports whether the file still covers another one, as far as can be seen by the
// name that it was given.
func (c *File) Mounted() bool {
	table, err := os.ReadFile("/proc/self/mountinfo")
	own, name := filepath.Split(c.file.Name())
	return err != nil || bytes.Contains(table, []byte("/"+filepath.Base(own)+"/"+name))
}

// find opens a place, or what is mounted over it.
func (m Mount) find(at Place) (fd int, st unix.Statx_t, err error) {
	// Reading its top folder is the one thing that the kernel may ask about, once: with
	// the answer ENOSYS it knows that it need not. A descriptor of O_PATH is not enough.
	dir, err := m.Dir()
	if err != nil {
		return -1, st, err
	}
	top, err := open(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return -1, st, err
	}
	defer unix.Close(top)
	if st, err = status(top); err != nil || !m.has(st) {
		return -1, st, errors.Join(fmt.Errorf("finding %q: it is not what is mounted on %q", at.Name, dir), err)
	}
	var handle [12]byte
	binary.NativeEndian.PutUint32(handle[0:], uint32(at.Parent>>32))
	binary.NativeEndian.PutUint32(handle[4:], uint32(at.Parent))
	binary.NativeEndian.PutUint32(handle[8:], 1)
	folder, err := unix.OpenByHandleAt(top, unix.NewFileHandle(inodeAndGeneration, handle[:]), unix.O_PATH|unix.O_CLOEXEC)
	if err != nil {
		return -1, st, fmt.Errorf("finding the folder of %q: %w", at.Name, err)
	}
	defer unix.Close(folder)
	if fd, err = open(folder, at.Name, unix.O_PATH|unix.O_NOFOLLOW); err != nil {
		return -1, st, err
	}
	if st, err = status(fd); err == nil && m.has(st) && st.Ino != at.Inode {
		err = errors.New("it is another file")
	}
	if err != nil {
		return -1, st, errors.Join(fmt.Errorf("looking at %q: %w", at.Name, err), unix.Close(fd))
	}
	return fd, st, nil
}

func (m Mount) has(st unix.Statx_t) bool { return st.Dev_major == m.Major && st.Dev_minor == m.Minor }

// open opens what the kernel has in memory.
func open(dir int, name string, flags uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: cached}
	for range tries {
		if fd, err = unix.Openat2(dir, name, &how); !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return -1, fmt.Errorf("finding %q: %w", name, err)
	}
	return fd, nil
}

// status returns what the kernel knows of an open file.
func status(fd int) (st unix.Statx_t, err error) {
	return st, unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &st)
}
