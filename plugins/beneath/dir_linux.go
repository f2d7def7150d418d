package beneath

import (
	"cmp"
	"crypto/rand"
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

// A Dir is an open directory. All names are looked up relative to one.
type Dir struct {
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

// Open opens a directory. It follows symbolic links.
func Open(path string) (*Dir, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	d := &Dir{fd: fd, shared: &shared{}}
	d.shared.buffers.New = func() any { b := make([]byte, direntBuffer); return &b }
	st, err := d.Stat("")
	if err != nil {
		d.Close()
		return nil, err
	}
	d.dev = st.dev
	return d, nil
}

// Close closes the directory.
func (d *Dir) Close() error { return unix.Close(d.fd) }

// maxLookup limits a path that is passed to the kernel at once, in bytes (PATH_MAX is 4096).
const maxLookup = 4000

// Open opens the directory at a path. It follows no links and does not leave the mount.
func (d *Dir) Open(path string) (*Dir, error) {
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
			return &Dir{fd: at, dev: d.dev, shared: d.shared}, nil
		}
	}
}

const openDirectory = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func (d *Dir) lookup(at int, path string) (int, error) {
	if !d.shared.oldest.Load() {
		how := &unix.OpenHow{Flags: openDirectory, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV}
		fd, err := retry(func() (int, error) { return unix.Openat2(at, path, how) })
		switch {
		case err == nil:
			return fd, nil
		case errors.Is(err, unix.EXDEV):
			return -1, ErrMount
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			d.shared.oldest.Store(true)
		case !errors.Is(err, unix.EAGAIN): // a rename raced with ".."
			return -1, err
		}
	}
	return d.walk(at, path)
}

// walk opens the directory at a path one name at a time.
func (d *Dir) walk(at int, path string) (int, error) {
	start := at
	for name := range strings.SplitSeq(path, "/") {
		if name == ".." { // as RESOLVE_BENEATH does at the top
			if at != start {
				unix.Close(at)
			}
			return -1, ErrMount
		}
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
				err = ErrMount
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

// Readlink returns the target of a symbolic link.
func (d *Dir) Readlink(name string) (string, error) {
	target, err := sized(func(buf []byte) (int, error) {
		n, err := unix.Readlinkat(d.fd, name, buf)
		if err == nil && n == len(buf) {
			err = unix.ERANGE // it may be longer
		}
		return n, err
	})
	return string(target), err
}

// Mkdir creates a directory that only this user can use.
func (d *Dir) Mkdir(name string) error { return unix.Mkdirat(d.fd, name, 0o700) }

// Symlink creates a symbolic link.
func (d *Dir) Symlink(target, name string) error { return unix.Symlinkat(target, d.fd, name) }

// Rename renames a file in the directory. It replaces what has the new name.
func (d *Dir) Rename(from, to string) error { return unix.Renameat(d.fd, from, d.fd, to) }

// Unlink removes a file that is not a directory.
func (d *Dir) Unlink(name string) error { return unix.Unlinkat(d.fd, name, 0) }

// Rmdir removes an empty directory.
func (d *Dir) Rmdir(name string) error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) }

// CanMove reports that files can be renamed from one open directory to another.
const CanMove = true

// MoveTo renames a file to another directory. It replaces what has the name there.
func (d *Dir) MoveTo(from string, to *Dir, name string) error {
	return unix.Renameat(d.fd, from, to.fd, name)
}

// MoveNew renames a file to another directory, unless there is one with the name.
func (d *Dir) MoveNew(from string, to *Dir, name string) error {
	err := unix.Renameat2(d.fd, from, to.fd, name, unix.RENAME_NOREPLACE)
	if !unsupportedRename(err) {
		return err
	}
	if err := unix.Linkat(d.fd, from, to.fd, name, 0); err == nil {
		return d.Unlink(from)
	} else if errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOENT) {
		return err
	}
	// Directories, and file systems without hard links: nothing better is left.
	if _, err := to.Stat(name); !errors.Is(err, unix.ENOENT) {
		return unix.EEXIST
	}
	return d.MoveTo(from, to, name)
}

// Exchange exchanges two files. It returns errors.ErrUnsupported if the file system cannot.
func (d *Dir) Exchange(from string, to *Dir, name string) error {
	err := unix.Renameat2(d.fd, from, to.fd, name, unix.RENAME_EXCHANGE)
	if unsupportedRename(err) {
		return errors.ErrUnsupported
	}
	return err
}

func unsupportedRename(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM)
}

// MovesTo reports whether files can be renamed to another directory: the file system and the mount must be the same.
func (d *Dir) MovesTo(to *Dir) bool {
	// The kernel compares the mounts before it looks up the names.
	return d.dev == to.dev && errors.Is(unix.Renameat(d.fd, rand.Text(), to.fd, rand.Text()), unix.ENOENT)
}

// Link creates a hard link to a file of another directory.
func (d *Dir) Link(from *Dir, file, name string) error {
	return unix.Linkat(from.fd, file, d.fd, name, 0)
}

// Mknod creates a FIFO or a device file with a unique name.
func (d *Dir) Mknod(name string, f domarkx.File) error {
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

// Chmod sets the mode of the directory itself.
func (d *Dir) Chmod(mode uint32) error { return unix.Fchmod(d.fd, mode) }

// CanSyncAll reports that sync works.
const CanSyncAll = true

// SyncAll syncs the whole file system.
func (d *Dir) SyncAll() error { return unix.Syncfs(d.fd) }

// Sync syncs the entries and attributes of the directory itself. It ignores file systems
// that cannot sync directories.
func (d *Dir) Sync() error {
	_, err := retry(func() (int, error) { return 0, unix.Fsync(d.fd) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}

// Allow gives this user access to a directory whose mode forbids even opening it.
func (d *Dir) Allow(at string) error {
	above, err := d.Open(path.Dir(at))
	if err != nil {
		return err
	}
	defer above.Close()
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

// Names returns the names in the directory, sorted by bytes.
func (d *Dir) Names() ([]string, error) {
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
		_, _, names = unix.ParseDirent((*buf)[:n], -1, names)
	}
}
