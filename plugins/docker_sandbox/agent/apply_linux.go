package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"golang.org/x/sys/unix"
)

// apply makes the changes of a request in order. After the first failure it reads the
// remaining changes without making them.
func (s *server) apply(ctx context.Context) error {
	a := applier{at: newDirOpener(s.root), to: newDirOpener(s.root)}
	defer a.at.close()
	defer a.to.close()
	mounts, failed := mountPoints()
	defer unix.Umask(unix.Umask(0)) // so that files are created with their final modes
	for {
		f, err := s.next(ctx)
		if err != nil {
			return err
		}
		if f.kind == kindEnd && failed == nil {
			return s.sync()
		} else if f.kind == kindEnd {
			return failed
		} else if f.kind != kindPut {
			return fmt.Errorf("%w: unexpected frame %q", errProtocol, f.kind)
		}
		e, err := ReadEntry(bufio.NewReader(bytes.NewReader(f.payload)))
		if err != nil {
			return err
		}
		var content *dataReader
		if e.Type == domarkx.Regular {
			content = s.stream(ctx)
		}
		if failed == nil {
			if failed = s.refuse(mounts, e.Path); failed == nil {
				failed = a.put(&e, content)
			}
			if failed != nil {
				failed = fmt.Errorf("restore %q: %w", e.Path, failed)
			}
		}
		if content != nil {
			if err := content.drain(); err != nil {
				return err
			}
		}
	}
}

// refuse returns an error for a path on a mount, such as a directory of the host. Restoring must not change such files.
func (s *server) refuse(mounts map[string]bool, path string) error {
	for at := path; at != ""; {
		if mounts[at] && !slices.Contains(s.keep, at) {
			return fmt.Errorf("/%s is on a mount and not one of the container's own files", at)
		}
		i := strings.LastIndexByte(at, '/')
		at = at[:max(i, 0)]
	}
	return nil
}

type applier struct{ at, to *dirOpener }

func (a *applier) remove(path string) error {
	if path == "" {
		return errors.New("the root directory cannot be removed")
	}
	dir, name, err := a.at.parent(path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	return removeAll(dir, name)
}

// removeAll removes a file or a directory with its content, whose paths may be longer than PATH_MAX.
func removeAll(dir int, name string) error {
	root, err := os.OpenRoot(procPath(dir, ""))
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(name)
}

func (a *applier) link(path, target string) error {
	from, old, err := a.to.parent(target)
	if err != nil {
		return err
	}
	dir, name, err := a.at.parent(path)
	if err != nil {
		return err
	}
	if err := removeAll(dir, name); err != nil {
		return err
	}
	return unix.Linkat(from, old, dir, name, 0)
}

func (a *applier) put(e *Entry, content io.Reader) error {
	switch e.Type {
	case deleted:
		return a.remove(e.Path)
	case link:
		return a.link(e.Path, e.Target)
	}
	dir, name, err := a.at.parent(e.Path)
	if err != nil {
		return err
	}
	if e.Type == domarkx.Directory {
		err = makeDirectory(dir, name, e.Mode)
	} else if err = makeFile(dir, name, e, content); errors.Is(err, unix.EEXIST) {
		if err = removeAll(dir, name); err == nil {
			err = makeFile(dir, name, e, content)
		}
	}
	if err != nil {
		return err
	}
	return setAttributes(dir, name, e)
}

// setAttributes sets the owner, mode and extended attributes that differ from e. It skips equal
// ones because each change costs a transaction of the file system.
func setAttributes(dir int, name string, e *Entry) error {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "lstat", Path: e.Path, Err: err}
	}
	// The order matters: changing the owner clears the set-id bits (chown(2)) and, as a write
	// does, the file's capabilities; setting an access ACL changes mode bits.
	if st.Uid != e.UID || st.Gid != e.GID {
		if err := unix.Fchownat(dir, name, int(e.UID), int(e.GID), unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return &os.PathError{Op: "chown", Path: e.Path, Err: err}
		}
		st.Mode = 0
	}
	if err := setXattrs(dir, name, e.Xattrs); err != nil {
		return err
	}
	if e.Type == domarkx.Symlink || st.Mode&0o7777 == e.Mode && len(e.Xattrs) == 0 {
		return nil
	}
	if err := unix.Fchmodat(dir, name, e.Mode, 0); err != nil {
		return &os.PathError{Op: "chmod", Path: e.Path, Err: err}
	}
	return nil
}

func makeDirectory(dir int, name string, mode uint32) error {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	if err == nil {
		err = removeAll(dir, name)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return unix.Mkdirat(dir, name, mode)
}

func makeFile(dir int, name string, e *Entry, content io.Reader) error {
	switch e.Type {
	case domarkx.Regular:
		fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, e.Mode)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), e.Path)
		_, err = io.CopyBuffer(struct{ io.Writer }{f}, content, make([]byte, 1<<17))
		return errors.Join(err, f.Close())
	case domarkx.Symlink:
		return unix.Symlinkat(e.Target, dir, name)
	case domarkx.Fifo:
		return unix.Mknodat(dir, name, unix.S_IFIFO|e.Mode, 0)
	case domarkx.CharDevice:
		return unix.Mknodat(dir, name, unix.S_IFCHR|e.Mode, int(unix.Mkdev(e.Major, e.Minor)))
	case domarkx.BlockDevice:
		return unix.Mknodat(dir, name, unix.S_IFBLK|e.Mode, int(unix.Mkdev(e.Major, e.Minor)))
	}
	return fmt.Errorf("cannot create a file of type %v", e.Type)
}

// setXattrs gives a file exactly the wanted extended attributes and removes all others.
func setXattrs(dir int, name string, wanted []domarkx.Xattr) error {
	path := procPath(dir, name)
	present, err := xattrNames(path)
	if err != nil {
		return err
	}
	for _, attribute := range present {
		if slices.ContainsFunc(wanted, func(x domarkx.Xattr) bool { return x.Name == attribute }) {
			continue
		}
		if err := unix.Lremovexattr(path, attribute); err != nil && !errors.Is(err, unix.ENODATA) {
			return fmt.Errorf("remove the attribute %q: %w", attribute, err)
		}
	}
	for _, x := range wanted {
		if err := unix.Lsetxattr(path, x.Name, x.Value, 0); err != nil {
			return fmt.Errorf("set the attribute %q: %w", x.Name, err)
		}
	}
	return nil
}
