//go:build !linux

package beneath

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

// A Dir is an open directory. All names are looked up relative to one.
type Dir struct{ *os.Root }

// Open opens a directory. It follows symbolic links.
func Open(path string) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

func (d *Dir) Open(path string) (*Dir, error) {
	if path == "" {
		path = "."
	} else if st, err := d.Stat(path); err != nil {
		return nil, err
	} else if st.Kind != domarkx.Directory {
		return nil, errors.New("not a directory")
	}
	root, err := d.Root.OpenRoot(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

// Names returns the names in the directory, sorted by bytes.
func (d *Dir) Names() ([]string, error) {
	f, err := d.Root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// Stat returns the stat of a file, or of the directory itself for "". It follows no links.
func (d *Dir) Stat(name string) (Stat, error) {
	if name == "" {
		name = "."
	}
	info, err := d.Root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return Stat{}, err
	}
	return statOf(info), nil
}

// statOf omits the inode, so that files are identified by size and times.
func statOf(info fs.FileInfo) Stat {
	s := Stat{Mode: uint32(info.Mode().Perm()), Links: 1, Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	for bit, mode := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if info.Mode()&bit != 0 {
			s.Mode |= mode
		}
	}
	switch info.Mode().Type() {
	case 0:
		s.Kind = domarkx.Regular
	case fs.ModeDir:
		s.Kind, s.Size = domarkx.Directory, 0
	case fs.ModeSymlink:
		s.Kind = domarkx.Symlink
	case fs.ModeNamedPipe:
		s.Kind = domarkx.Fifo
	}
	return s
}

func (f *File) Reader(most int64) io.Reader { return io.LimitReader(f, most) }

func (f *File) Stat() (Stat, error) {
	info, err := f.File.Stat()
	if err != nil {
		return Stat{}, err
	}
	return statOf(info), nil
}

// OpenFile opens a regular file for reading.
func (d *Dir) OpenFile(name string) (*File, error) {
	f, err := d.Root.Open(name)
	return &File{f}, err
}

// Create creates a new regular file for writing.
func (d *Dir) Create(name string) (*File, error) {
	f, err := d.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return &File{f}, err
}

func (d *Dir) Mkdir(name string) error  { return d.Root.Mkdir(name, 0o700) }
func (d *Dir) Unlink(name string) error { return d.Remove(name) }
func (d *Dir) Rmdir(name string) error  { return d.Remove(name) }

var errLinuxOnly = errors.New("only supported on Linux")

// CanMove reports that files cannot be renamed from one open directory to another.
const CanMove = false

func (d *Dir) MoveTo(string, *Dir, string) error   { return errLinuxOnly }
func (d *Dir) MoveNew(string, *Dir, string) error  { return errLinuxOnly }
func (d *Dir) Exchange(string, *Dir, string) error { return errLinuxOnly }
func (d *Dir) MovesTo(*Dir) bool                   { return false }
func (f *File) HasWriter() (bool, error)           { return false, errLinuxOnly }
func (f *File) Touch() error                       { return nil }

// Link is not needed: hard links are not recognized here.
func (d *Dir) Link(*Dir, string, string) error { return errLinuxOnly }

// Mknod is only supported on Linux.
func (d *Dir) Mknod(string, domarkx.File) error { return errLinuxOnly }

// Chmod sets the mode of the directory itself.
func (d *Dir) Chmod(mode uint32) error { return d.Root.Chmod(".", fileMode(mode)) }

func (f *File) Chmod(mode uint32) error { return f.File.Chmod(fileMode(mode)) }

func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	for bit, set := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			m |= set
		}
	}
	return m
}

// KeepsXattr returns false: extended attributes are only stored on Linux.
func KeepsXattr(string) bool { return false }

// CanSyncAll reports that sync does nothing here.
const CanSyncAll = false

func (d *Dir) SyncAll() error { return nil }

// Sync syncs the entries and attributes of the directory, where the system can.
func (d *Dir) Sync() error {
	f, err := d.Root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.Sync(f), f.Close())
}

func (d *Dir) Xattrs() ([]domarkx.Xattr, error)  { return nil, nil }
func (d *Dir) SetXattrs([]domarkx.Xattr) error   { return nil }
func (f *File) Xattrs() ([]domarkx.Xattr, error) { return nil, nil }
func (f *File) SetXattrs([]domarkx.Xattr) error  { return nil }

// Allow gives this user access to a directory whose mode forbids even opening it.
func (d *Dir) Allow(path string) error {
	return d.Root.Chmod(filepath.FromSlash(path), 0o700)
}

func (d *Dir) Chown(string, domarkx.File) error {
	return fmt.Errorf("owners of files: %w on this system", domarkx.ErrUnsupported)
}
