package dirversion

import (
	"errors"
	"io"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/sparse"
	"golang.org/x/sys/unix"
)

// A file is an open regular file. Unlike an os.File it is not registered with the
// runtime's poller, which does not support regular files anyway.
type file struct{ fd int }

func (f *file) Read(p []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(f.fd, p) })
	if err != nil {
		return 0, err
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// reader returns a reader of at most that many bytes. It does not read holes.
func (f *file) reader(most int64) io.Reader { return sparse.Reader(f.fd, most) }

// WriteAt writes all of p or returns an error.
func (f *file) WriteAt(p []byte, at int64) (int, error) {
	for done := 0; ; {
		n, err := retry(func() (int, error) { return unix.Pwrite(f.fd, p[done:], at+int64(done)) })
		if done += max(n, 0); err != nil || done == len(p) {
			return done, err
		}
	}
}

func (f *file) Truncate(size int64) error { return unix.Ftruncate(f.fd, size) }

// Sync syncs the file, even if it is open only for reading.
func (f *file) Sync() error {
	_, err := retry(func() (int, error) { return 0, unix.Fsync(f.fd) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil // for example a FUSE file system without fsync
	}
	return err
}

func (f *file) Close() error { return unix.Close(f.fd) }

// openForWriting reports whether a program has an open file, or a part of it in memory, for writing.
func (f *file) openForWriting() (bool, error) {
	// The kernel grants a read lease only if no one has. It is given up at once.
	_, err := unix.FcntlInt(uintptr(f.fd), unix.F_SETLEASE, unix.F_RDLCK)
	if errors.Is(err, unix.EAGAIN) {
		return true, nil
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(f.fd), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return false, err
}

// mark sets the mtime to the present. A write within the same tick of the kernel's clock sets another one.
func (f *file) mark() error {
	now := unix.NsecToTimespec(time.Now().UnixNano())
	return unix.UtimesNanoAt(f.fd, "", []unix.Timespec{now, now}, unix.AT_EMPTY_PATH)
}

// openFile opens a regular file for reading. It does not block on other types.
func (d *dir) openFile(name string) (*file, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	return &file{fd}, nil
}

// create creates a new regular file for writing.
func (d *dir) create(name string) (*file, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return nil, err
	}
	return &file{fd}, nil
}

// statFile returns the stat of an open file.
func (f *file) stat() (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}

func (f *file) chmod(mode uint32) error { return unix.Fchmod(f.fd, mode) }

// stat returns the stat of a file, or of the directory itself for "". It follows no links.
func (d *dir) stat(name string) (stat, error) {
	var st unix.Stat_t
	var err error
	if name == "" {
		err = unix.Fstat(d.fd, &st)
	} else {
		err = unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return stat{}, err
	}
	s := statOf(&st)
	if d.dev != 0 && s.dev != d.dev {
		return s, errMount
	}
	return s, nil
}

func statOf(st *unix.Stat_t) stat {
	s := stat{
		mode: st.Mode & 0o7777, identity: identity{st.Dev, st.Ino}, nlink: uint64(st.Nlink), size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.kind = domarkx.Regular
	case unix.S_IFDIR:
		s.kind, s.size = domarkx.Directory, 0
	case unix.S_IFLNK:
		s.kind = domarkx.Symlink
	case unix.S_IFIFO:
		s.kind = domarkx.Fifo
	case unix.S_IFCHR:
		s.kind, s.major, s.minor = domarkx.CharDevice, unix.Major(st.Rdev), unix.Minor(st.Rdev)
	case unix.S_IFBLK:
		s.kind, s.major, s.minor = domarkx.BlockDevice, unix.Major(st.Rdev), unix.Minor(st.Rdev)
	}
	return s
}
