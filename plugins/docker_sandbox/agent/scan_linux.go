package agent

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"golang.org/x/sys/unix"
)

// scan answers a request with all files of the container.
func (s *server) scan() error {
	mounts, err := mountPoints()
	if err != nil {
		return err
	}
	w := walker{bufio.NewWriterSize(s.out, maxFrame/2), func(path string) bool { return mounts[path] && !slices.Contains(s.keep, path) }}
	fd, err := open(unix.AT_FDCWD, s.root, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return &os.PathError{Op: "open", Path: s.root, Err: err}
	}
	defer unix.Close(fd)
	if _, err := w.send(fd, ".", ""); err != nil {
		return err
	}
	if err := w.walk(fd, ""); err != nil {
		return err
	}
	return w.out.Flush()
}

type walker struct {
	out  *bufio.Writer
	skip func(path string) bool
}

// send sends the entry of a file in an open directory.
func (w *walker) send(dir int, name, path string) (Entry, error) {
	e, err := lstat(dir, name, path)
	if err == nil {
		_, err = w.out.Write(AppendEntry(nil, &e))
	}
	return e, err
}

// walk sends the entries below the open directory at path.
func (w *walker) walk(fd int, path string) error {
	names, err := readNames(fd)
	if err != nil {
		return fmt.Errorf("list %q: %w", path, err)
	}
	for _, name := range names {
		at := name
		if path != "" {
			at = path + "/" + name
		}
		if w.skip(at) {
			continue
		}
		e, err := w.send(fd, name, at)
		if errors.Is(err, unix.ENOENT) {
			continue // overlayfs lists whiteouts of the lowest layer, but they do not exist
		}
		if err != nil {
			return err
		}
		if e.Type != domarkx.Directory {
			continue
		}
		below, err := open(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
		if err != nil {
			return &os.PathError{Op: "open", Path: at, Err: err}
		}
		err = w.walk(below, at)
		unix.Close(below)
		if err != nil {
			return err
		}
	}
	return nil
}

func readNames(fd int) ([]string, error) {
	var names []string
	buffer := make([]byte, 1<<15)
	for {
		n, err := unix.ReadDirent(fd, buffer)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			slices.Sort(names)
			return names, nil
		}
		_, _, names = unix.ParseDirent(buffer[:n], -1, names)
	}
}

// lstat returns all attributes of a file.
func lstat(dir int, name, path string) (Entry, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Entry{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	e := Entry{
		Path: path, File: domarkx.File{Mode: st.Mode & 0o7777, UID: st.Uid, GID: st.Gid},
		Dev: uint64(st.Dev), Ino: st.Ino, Nlink: uint64(st.Nlink), CTime: st.Ctim.Nano(),
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Type, e.Size = domarkx.Regular, st.Size
	case unix.S_IFDIR:
		e.Type = domarkx.Directory
	case unix.S_IFLNK:
		e.Type = domarkx.Symlink
		target := make([]byte, 4097) // targets have at most 4095 bytes (symlink(7))
		n, err := unix.Readlinkat(dir, name, target)
		if err != nil {
			return Entry{}, &os.PathError{Op: "readlink", Path: path, Err: err}
		}
		e.Target = string(target[:n])
	case unix.S_IFIFO:
		e.Type = domarkx.Fifo
	case unix.S_IFCHR:
		e.Type, e.Major, e.Minor = domarkx.CharDevice, unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev))
	case unix.S_IFBLK:
		e.Type, e.Major, e.Minor = domarkx.BlockDevice, unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev))
	default:
		e.Type = Socket
	}
	if e.Type == Socket {
		return e, nil
	}
	var err error
	if e.Xattrs, err = xattrs(dir, name); err != nil {
		return Entry{}, &os.PathError{Op: "listxattr", Path: path, Err: err}
	}
	return e, nil
}

// xattrs returns the extended attributes of a file, except those that belong to the host's security modules.
func xattrs(dir int, name string) ([]domarkx.Xattr, error) {
	path := procPath(dir, name)
	names, err := xattrNames(path)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var list []domarkx.Xattr
	value := make([]byte, maxXattr)
	for _, name := range names {
		n, err := unix.Lgetxattr(path, name, value)
		if errors.Is(err, unix.ENODATA) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, domarkx.Xattr{Name: name, Value: slices.Clone(value[:n])})
	}
	return list, nil
}

func xattrNames(path string) ([]string, error) {
	n, err := unix.Llistxattr(path, nil)
	if errors.Is(err, unix.ENOTSUP) || n == 0 && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := make([]byte, n+1024)
	if n, err = unix.Llistxattr(path, list); err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:n]), "\x00"), "\x00") {
		switch {
		case name == "" || name == "security.selinux" || name == "security.ima" || name == "security.evm" ||
			strings.HasPrefix(name, "security.apparmor") || strings.HasPrefix(name, "security.SMACK64"):
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// mountPoints returns the mount points, relative to the root.
func mountPoints() (map[string]bool, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	points := map[string]bool{}
	unescape := strings.NewReplacer(`\011`, "\t", `\012`, "\n", `\040`, " ", `\043`, "#", `\134`, `\`) // what the kernel escapes
	for line := range strings.Lines(string(data)) {
		// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw (proc_pid_mountinfo(5))
		if fields := strings.Fields(line); len(fields) > 4 {
			if path := strings.TrimPrefix(unescape.Replace(fields[4]), "/"); path != "" {
				points[path] = true
			}
		}
	}
	return points, nil
}
