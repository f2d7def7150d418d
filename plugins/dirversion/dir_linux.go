package dirversion

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx/format/domarkx"
	"golang.org/x/sys/unix"
)

// A dir is an open directory. All names are looked up relative to one.
type dir struct {
	fd     int
	dev    uint64
	shared *shared
}

// shared is the state that all directories below one top share.
type shared struct {
	oldest  atomic.Bool // whether the kernel lacks openat2
	buffers sync.Pool   // of *[]byte, for directory entries
}

const direntBuffer = 32 << 10

// openTop opens a directory. It follows symbolic links.
func openTop(path string) (*dir, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	d := &dir{fd: fd, shared: &shared{}}
	d.shared.buffers.New = func() any { b := make([]byte, direntBuffer); return &b }
	st, err := d.stat("")
	if err != nil {
		d.close()
		return nil, err
	}
	d.dev = st.dev
	return d, nil
}

func (d *dir) close() error { return unix.Close(d.fd) }

// maxLookup limits a path that is passed to the kernel at once, in bytes (PATH_MAX is 4096).
const maxLookup = 4000

// open opens the directory at a path. It follows no links and does not leave the mount.
func (d *dir) open(path string) (*dir, error) {
	at, owned := d.fd, false
	for {
		part := cmp.Or(path, ".")
		path = ""
		if len(part) > maxLookup {
			i := strings.LastIndexByte(part[:maxLookup], '/')
			part, path = part[:i], part[i+1:]
		}
		fd, err := d.lookup(at, part)
		if owned {
			unix.Close(at)
		}
		if err != nil {
			return nil, err
		}
		at, owned = fd, true
		if path == "" {
			return &dir{fd: at, dev: d.dev, shared: d.shared}, nil
		}
	}
}

const openDirectory = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func (d *dir) lookup(at int, path string) (int, error) {
	if !d.shared.oldest.Load() {
		how := &unix.OpenHow{Flags: openDirectory, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV}
		fd, err := retry(func() (int, error) { return unix.Openat2(at, path, how) })
		switch {
		case err == nil:
			return fd, nil
		case errors.Is(err, unix.EXDEV):
			return -1, errMount
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			d.shared.oldest.Store(true)
		case !errors.Is(err, unix.EAGAIN): // a rename raced with ".."
			return -1, err
		}
	}
	return d.walk(at, path)
}

// walk opens the directory at a path one name at a time.
func (d *dir) walk(at int, path string) (int, error) {
	start := at
	for name := range strings.SplitSeq(path, "/") {
		fd, err := retry(func() (int, error) { return unix.Openat(at, name, openDirectory, 0) })
		if at != start {
			unix.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at = fd
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Dev != d.dev {
			unix.Close(fd)
			if err == nil {
				err = errMount
			}
			return -1, err
		}
	}
	return at, nil
}

// retry repeats a call that was interrupted by a signal.
func retry[T any](f func() (T, error)) (T, error) {
	for {
		v, err := f()
		if !errors.Is(err, unix.EINTR) {
			return v, err
		}
	}
}

func (d *dir) readlink(name string) (string, error) {
	buf := make([]byte, 256)
	for {
		n, err := unix.Readlinkat(d.fd, name, buf)
		if err != nil {
			return "", err
		}
		if n < len(buf) {
			return string(buf[:n]), nil
		}
		buf = make([]byte, 2*len(buf))
	}
}

func (d *dir) mkdir(name string) error           { return unix.Mkdirat(d.fd, name, 0o700) }
func (d *dir) symlink(target, name string) error { return unix.Symlinkat(target, d.fd, name) }
func (d *dir) rename(from, to string) error      { return unix.Renameat(d.fd, from, d.fd, to) }
func (d *dir) unlink(name string) error          { return unix.Unlinkat(d.fd, name, 0) }
func (d *dir) rmdir(name string) error           { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) }

// canMoveBetween reports that files can be renamed from one open directory to another.
const canMoveBetween = true

// moveTo renames a file to another directory. It replaces what has the name there.
func (d *dir) moveTo(from string, to *dir, name string) error {
	return unix.Renameat(d.fd, from, to.fd, name)
}

// moveNew renames a file to another directory, unless there is one with the name.
func (d *dir) moveNew(from string, to *dir, name string) error {
	err := unix.Renameat2(d.fd, from, to.fd, name, unix.RENAME_NOREPLACE)
	if !unsupportedRename(err) {
		return err
	}
	if err := unix.Linkat(d.fd, from, to.fd, name, 0); err == nil {
		return d.unlink(from)
	} else if errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOENT) {
		return err
	}
	// Directories, and file systems without hard links: nothing better is left.
	if _, err := to.stat(name); !errors.Is(err, unix.ENOENT) {
		return unix.EEXIST
	}
	return d.moveTo(from, to, name)
}

// exchange exchanges two files. It returns errors.ErrUnsupported if the file system cannot.
func (d *dir) exchange(from string, to *dir, name string) error {
	err := unix.Renameat2(d.fd, from, to.fd, name, unix.RENAME_EXCHANGE)
	if unsupportedRename(err) {
		return errors.ErrUnsupported
	}
	return err
}

func unsupportedRename(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM)
}

// movesTo reports whether files can be renamed to another directory: the file system and the mount must be the same.
func (d *dir) movesTo(to *dir) bool {
	// The kernel compares the mounts before it looks up the names.
	return d.dev == to.dev && errors.Is(unix.Renameat(d.fd, rand.Text(), to.fd, rand.Text()), unix.ENOENT)
}

// link creates a hard link to a file of another directory.
func (d *dir) link(from *dir, file, name string) error {
	return unix.Linkat(from.fd, file, d.fd, name, 0)
}

// special creates a FIFO or a device file with a unique name.
func (d *dir) special(name string, f domarkx.File) error {
	mode, dev := uint32(unix.S_IFIFO), uint64(0)
	switch f.Type {
	case domarkx.CharDevice:
		mode, dev = unix.S_IFCHR, unix.Mkdev(f.Major, f.Minor)
	case domarkx.BlockDevice:
		mode, dev = unix.S_IFBLK, unix.Mkdev(f.Major, f.Minor)
	}
	if err := unix.Mknodat(d.fd, name, mode|0o600, int(dev)); err != nil {
		return err
	}
	return unix.Fchmodat(d.fd, name, f.Mode, 0)
}

// chmod sets the mode of the directory itself.
func (d *dir) chmod(mode uint32) error { return unix.Fchmod(d.fd, mode) }

// canSyncAll reports that sync works.
const canSyncAll = true

// sync syncs the whole file system.
func (d *dir) sync() error { return unix.Syncfs(d.fd) }

// syncSelf syncs the entries and attributes of the directory itself. It ignores file systems
// that cannot sync directories.
func (d *dir) syncSelf() error {
	_, err := retry(func() (int, error) { return 0, unix.Fsync(d.fd) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}

// allow gives this user access to a directory whose mode forbids even opening it.
func (d *dir) allow(at string) error {
	above, err := d.open(path.Dir(at))
	if err != nil {
		return err
	}
	defer above.close()
	fd, err := retry(func() (int, error) {
		return unix.Openat(above.fd, path.Base(at), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// fchmod(2) rejects O_PATH descriptors; the link in /proc leads to the same directory.
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700)
}

// names returns the names in the directory, sorted by bytes.
func (d *dir) names() ([]string, error) {
	if _, err := unix.Seek(d.fd, 0, io.SeekStart); err != nil {
		return nil, err
	}
	buf := d.shared.buffers.Get().(*[]byte)
	defer d.shared.buffers.Put(buf)
	var names []string
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(d.fd, *buf) })
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			slices.Sort(names)
			return names, nil
		}
		names = appendNames(names, string((*buf)[:n]))
	}
}

// Offsets of the length and the name in a linux_dirent64 (getdents(2)).
const (
	direntLength = 8 + 8
	direntName   = 8 + 8 + 2 + 1
)

// appendNames appends the names of directory entries. They share the memory of entries.
func appendNames(names []string, entries string) []string {
	for len(entries) > direntName {
		size := int(binary.NativeEndian.Uint16([]byte(entries[direntLength : direntLength+2])))
		if size <= direntName || size > len(entries) {
			break
		}
		name := entries[direntName:size]
		if i := strings.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		entries = entries[size:]
		if name != "." && name != ".." {
			names = append(names, name)
		}
	}
	return names
}
