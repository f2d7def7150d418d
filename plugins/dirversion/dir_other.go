//go:build !linux

package dirversion

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A dir is an open directory. All names are looked up relative to one.
type dir struct{ root *os.Root }

// openTop opens a directory. It follows symbolic links.
func openTop(path string) (*dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &dir{root}, nil
}

func (d *dir) close() error { return d.root.Close() }

func (d *dir) open(path string) (*dir, error) {
	if path == "" {
		path = "."
	} else if st, err := d.stat(path); err != nil {
		return nil, err
	} else if st.kind != domarkx.Directory {
		return nil, errors.New("not a directory")
	}
	root, err := d.root.OpenRoot(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	return &dir{root}, nil
}

// names returns the names in the directory, sorted by bytes.
func (d *dir) names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// stat returns the stat of a file, or of the directory itself for "". It follows no links.
func (d *dir) stat(name string) (stat, error) {
	if name == "" {
		name = "."
	}
	info, err := d.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

// statOf omits the inode, so that files are identified by size and times.
func statOf(info fs.FileInfo) stat {
	s := stat{mode: uint32(info.Mode().Perm()), nlink: 1, size: info.Size(), mtime: info.ModTime().UnixNano()}
	for bit, mode := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if info.Mode()&bit != 0 {
			s.mode |= mode
		}
	}
	switch info.Mode().Type() {
	case 0:
		s.kind = domarkx.Regular
	case fs.ModeDir:
		s.kind, s.size = domarkx.Directory, 0
	case fs.ModeSymlink:
		s.kind = domarkx.Symlink
	case fs.ModeNamedPipe:
		s.kind = domarkx.Fifo
	}
	return s
}

// A file is an open regular file.
type file struct{ *os.File }

func (f *file) reader(most int64) io.Reader { return io.LimitReader(f, most) }

func (f *file) stat() (stat, error) {
	info, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

// openFile opens a regular file for reading.
func (d *dir) openFile(name string) (*file, error) {
	f, err := d.root.Open(name)
	return &file{f}, err
}

// create creates a new regular file for writing.
func (d *dir) create(name string) (*file, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return &file{f}, err
}

func (d *dir) readlink(name string) (string, error) { return d.root.Readlink(name) }
func (d *dir) mkdir(name string) error              { return d.root.Mkdir(name, 0o700) }
func (d *dir) symlink(target, name string) error    { return d.root.Symlink(target, name) }
func (d *dir) rename(from, to string) error         { return d.root.Rename(from, to) }
func (d *dir) unlink(name string) error             { return d.root.Remove(name) }
func (d *dir) rmdir(name string) error              { return d.root.Remove(name) }

var errLinuxOnly = errors.New("only supported on Linux")

// canMoveBetween reports that files cannot be renamed from one open directory to another.
const canMoveBetween = false

func (d *dir) moveTo(string, *dir, string) error   { return errLinuxOnly }
func (d *dir) moveNew(string, *dir, string) error  { return errLinuxOnly }
func (d *dir) exchange(string, *dir, string) error { return errLinuxOnly }
func (d *dir) movesTo(*dir) bool                   { return false }
func (f *file) openForWriting() (bool, error)      { return false, errLinuxOnly }
func (f *file) mark() error                        { return nil }

// link is not needed: hard links are not recognized here.
func (d *dir) link(*dir, string, string) error { return errLinuxOnly }

// special is only supported on Linux.
func (d *dir) special(string, domarkx.File) error { return errLinuxOnly }

// chmod sets the mode of the directory itself.
func (d *dir) chmod(mode uint32) error { return d.root.Chmod(".", fileMode(mode)) }

func (f *file) chmod(mode uint32) error { return f.Chmod(fileMode(mode)) }

func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	for bit, set := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			m |= set
		}
	}
	return m
}

// kept returns false: extended attributes are only stored on Linux.
func kept(string) bool { return false }

// canSyncAll reports that sync does nothing here.
const canSyncAll = false

func (d *dir) sync() error { return nil }

// syncSelf syncs the entries and attributes of the directory, where the system can.
func (d *dir) syncSelf() error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.Sync(f), f.Close())
}

// Sync syncs the file, where the system can.
func (f *file) Sync() error { return atomicfile.Sync(f.File) }

func (d *dir) xattrs() ([]domarkx.Xattr, error)  { return nil, nil }
func (d *dir) setXattrs([]domarkx.Xattr) error   { return nil }
func (f *file) xattrs() ([]domarkx.Xattr, error) { return nil, nil }
func (f *file) setXattrs([]domarkx.Xattr) error  { return nil }

// allow gives this user access to a directory whose mode forbids even opening it.
func (d *dir) allow(path string) error {
	return d.root.Chmod(filepath.FromSlash(path), 0o700)
}

func (d *dir) own(string, domarkx.File) error {
	return fmt.Errorf("owners of files: %w on this system", domarkx.ErrUnsupported)
}
