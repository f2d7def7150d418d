package beneath

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/sparse"
	"golang.org/x/sys/unix"
)

// Reader returns a reader of at most that many bytes. It does not read holes.
func (f *File) Reader(most int64) io.Reader { return sparse.Reader(int(f.Fd()), most) }

// HasWriter reports whether a program has an open file, or a part of it in memory, for writing.
func (f *File) HasWriter() (bool, error) {
	// The kernel grants a read lease only if no one has. It is given up at once.
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if errors.Is(err, unix.EAGAIN) {
		return true, nil
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return false, err
}

// Touch sets the mtime to the present. A write within the same tick of the kernel's clock sets another one.
func (f *File) Touch() error {
	now := unix.NsecToTimespec(time.Now().UnixNano())
	return unix.UtimesNanoAt(int(f.Fd()), "", []unix.Timespec{now, now}, unix.AT_EMPTY_PATH)
}

// OpenFile opens a regular file for reading. It does not block on other types.
func (d *Dir) OpenFile(name string) (*File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	return &File{os.NewFile(uintptr(fd), name)}, nil
}

// Create creates a new regular file for writing.
func (d *Dir) Create(name string) (*File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return nil, err
	}
	return &File{os.NewFile(uintptr(fd), name)}, nil
}

// Stat returns the stat of an open file.
func (f *File) Stat() (Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}

// Chmod sets the mode of the file.
func (f *File) Chmod(mode uint32) error { return unix.Fchmod(int(f.Fd()), mode) }

// Stat returns the stat of a file, or of the directory itself for "". It follows no links.
func (d *Dir) Stat(name string) (Stat, error) {
	var st unix.Stat_t
	var err error
	if name == "" {
		err = unix.Fstat(d.fd, &st)
	} else {
		err = unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Stat{}, err
	}
	s := statOf(&st)
	if d.dev != 0 && s.dev != d.dev {
		return s, ErrMount
	}
	return s, nil
}

func statOf(st *unix.Stat_t) Stat {
	s := Stat{
		Mode: st.Mode & 0o7777, Identity: Identity{st.Dev, st.Ino}, Links: uint64(st.Nlink), Size: st.Size,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.Kind = domarkx.Regular
	case unix.S_IFDIR:
		s.Kind, s.Size = domarkx.Directory, 0
	case unix.S_IFLNK:
		s.Kind = domarkx.Symlink
	case unix.S_IFIFO:
		s.Kind = domarkx.Fifo
	case unix.S_IFCHR:
		s.Kind, s.Major, s.Minor = domarkx.CharDevice, unix.Major(st.Rdev), unix.Minor(st.Rdev)
	case unix.S_IFBLK:
		s.Kind, s.Major, s.Minor = domarkx.BlockDevice, unix.Major(st.Rdev), unix.Minor(st.Rdev)
	}
	return s
}
