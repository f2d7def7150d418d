package cover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Folder has the files that cover others, as long as they do. Each process has one of
// its own in a folder that they share, and locks it, so that the others know what is left
// of a process that was killed.
type Folder struct {
	dir string

	mu     sync.Mutex
	own    *os.File // nil until there is a file
	last   int
	closed bool
}

// Open removes what dead processes left in a folder, which need not be there.
func Open(dir string) *Folder {
	entries, _ := os.ReadDir(dir) // there is none, or a new one will be told why
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ownPrefix) {
			continue // it is somebody's who has the folder elsewhere, behind a link
		}
		if own, err := lock(filepath.Join(dir, e.Name())); err == nil {
			clearOwn(own.Name()) // the next one tries again
			own.Close()
		}
	}
	return &Folder{dir: dir}
}

// ownPrefix begins the names of the folders of processes.
const ownPrefix = "mount-"

// clearOwn removes a process's folder with the files that were made in it, and nothing else.
func clearOwn(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(err, os.Remove(dir))
}

func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %q: %w", dir, err), f.Close())
	}
	return f, nil
}

// Close removes all files. Those that still cover others go when they no longer do.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.own == nil {
		return nil
	}
	own := f.own
	f.own = nil
	return errors.Join(clearOwn(own.Name()), own.Close())
}

// Space returns how many bytes the disk has, and how many of them are free for this
// user.
func (f *Folder) Space() (size, free int64, err error) {
	dir, err := f.open()
	if err != nil {
		return 0, 0, err
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("looking for space at %q: %w", dir, err)
	}
	return int64(st.Blocks) * st.Bsize, int64(st.Bavail) * st.Bsize, nil
}

// open makes this process's own folder.
func (f *Folder) open() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return "", os.ErrClosed
	}
	if f.own != nil {
		return f.own.Name(), nil
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(f.dir, ownPrefix+"*")
	if err != nil {
		return "", err
	}
	if f.own, err = lock(dir); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// A File is to cover another one. Remove has to follow.
type File struct {
	file *os.File
	a    Attributes
	tree int // its mount, which is nowhere yet; -1 when it is somewhere
	is   unix.Stat_t
}

// Create makes a file of zeros that nobody sees yet. What mounting it takes is tried, all
// but the mounting.
func (f *Folder) Create(a Attributes) (c *File, err error) {
	dir, err := f.open()
	if err != nil {
		return nil, err
	}
	// It has a name as long as it is used: what has none shows that it has none.
	c = &File{a: a, tree: -1}
	if c.file, err = os.OpenFile(filepath.Join(dir, f.next()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	fd := int(c.file.Fd())
	if err := unix.Fallocate(fd, 0, 0, a.Size); err != nil {
		return nil, errors.Join(fmt.Errorf("reserving %d bytes in %q: %w", a.Size, dir, err), c.Remove())
	}
	if err := errors.Join(unix.Fchown(fd, int(a.Owner), int(a.Owner)), unix.Fchmod(fd, a.Permissions)); err != nil {
		return nil, errors.Join(fmt.Errorf("giving a file its attributes: %w", err), c.Remove())
	}
	if c.tree, err = detached(fd); err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

func (f *Folder) next() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	return strconv.Itoa(f.last) + suffix
}

// WriteAt writes as io.WriterAt says, and lets the disk begin with it. Sync has to follow.
func (c *File) WriteAt(p []byte, off int64) (int, error) {
	n, err := c.file.WriteAt(p, off)
	if err == nil {
		_ = unix.SyncFileRange(int(c.file.Fd()), off, int64(n), unix.SYNC_FILE_RANGE_WRITE) // Sync is told
	}
	return n, err
}

// Sync waits until the disk has all: what it refused later would read as zeros.
func (c *File) Sync() error {
	if err := unix.Fdatasync(int(c.file.Fd())); err != nil {
		return fmt.Errorf("writing an unpacked file: %w", err)
	}
	return nil
}

// Cover mounts the file over another one; [ErrUncoverable].
func (c *File) Cover(m Mount, at Place) error {
	when := time.Unix(c.a.Date, 0)
	if err := os.Chtimes(c.file.Name(), when, when); err != nil {
		return err
	}
	if err := unix.Fstat(int(c.file.Fd()), &c.is); err != nil {
		return fmt.Errorf("looking at an unpacked file: %w", err)
	}
	if st := &c.is; (Attributes{st.Mode & 0o7777, st.Uid, st.Size, st.Mtim.Sec}) != c.a || st.Gid != c.a.Owner || st.Mtim.Nsec != 0 || st.Nlink != 1 {
		return fmt.Errorf("this disk shows other attributes: %w", ErrUncoverable)
	}
	if err := c.file.Close(); err != nil {
		return err
	}
	if err := m.attach(c.tree, at); err != nil {
		return err
	}
	return c.closeTree()
}

func (c *File) closeTree() error {
	tree := c.tree
	if c.tree = -1; tree < 0 {
		return nil
	}
	return unix.Close(tree)
}

// Remove removes the file. As long as it covers another one, its content stays.
func (c *File) Remove() error {
	err := c.closeTree()
	for _, e := range []error{c.file.Close(), os.Remove(c.file.Name())} {
		if !errors.Is(e, os.ErrClosed) && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
