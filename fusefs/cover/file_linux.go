package cover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A File is to cover another one. Remove has to follow.
type File struct {
	file *os.File
	a    Attributes
	tree int // its mount, which is nowhere yet; -1 when it is somewhere
	// written is what it was when it was mounted.
	written unix.Stat_t
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

// behind is how many bytes the disk may have yet to write: enough that it is never idle.
const behind = 8 << 20

// WriteAt writes as io.WriterAt says, from the beginning to the end, and lets the disk begin
// with it. It waits until the disk has what is far before that, so that Sync, which has to
// follow, has little to wait for.
func (c *File) WriteAt(p []byte, off int64) (int, error) {
	n, err := c.file.WriteAt(p, off)
	if err != nil {
		return n, err
	}
	fd := int(c.file.Fd())
	err = unix.SyncFileRange(fd, off, int64(n), unix.SYNC_FILE_RANGE_WRITE)
	if err == nil && off > behind {
		err = unix.SyncFileRange(fd, 0, off-behind, unix.SYNC_FILE_RANGE_WAIT_BEFORE)
	}
	if err != nil {
		return n, fmt.Errorf("writing an unpacked file: %w", err)
	}
	return n, nil
}

// Sync waits until the disk has all: what it refused later would read as zeros.
func (c *File) Sync() error {
	if err := unix.Fdatasync(int(c.file.Fd())); err != nil {
		return fmt.Errorf("writing an unpacked file: %w", err)
	}
	return nil
}

// Cover mounts the file over another one.
func (c *File) Cover(m Mount, at Place) error {
	when := unix.NsecToTimeval(c.a.Date * 1e9)
	if err := unix.Futimes(int(c.file.Fd()), []unix.Timeval{when, when}); err != nil {
		return fmt.Errorf("setting the times of an unpacked file: %w", err)
	}
	if err := unix.Fstat(int(c.file.Fd()), &c.written); err != nil {
		return fmt.Errorf("looking at an unpacked file: %w", err)
	}
	if st := &c.written; (Attributes{st.Mode & 0o7777, st.Uid, st.Size, st.Mtim.Sec}) != c.a || st.Gid != c.a.Owner || st.Mtim.Nsec != 0 || st.Nlink != 1 {
		return fmt.Errorf("covering %q: this disk shows other attributes", at.Name)
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

// Unchanged reports whether the file is as it was when it was mounted. What root does to it
// where it lies shows through where it covers another one.
func (c *File) Unchanged() bool {
	var st unix.Stat_t
	err := unix.Lstat(c.file.Name(), &st)
	st.Blocks = c.written.Blocks // the disk may settle later how it keeps it
	return err == nil && st == c.written
}

// Remove removes the file. As long as it covers another one, its content stays.
func (c *File) Remove() error {
	err := errors.Join(c.closeTree(), unlessGone(os.Remove(c.file.Name())))
	if e := c.file.Close(); !errors.Is(e, os.ErrClosed) {
		err = errors.Join(err, e)
	}
	return err
}
