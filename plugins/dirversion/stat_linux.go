package dirversion

import (
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx"
)

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
