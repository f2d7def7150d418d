package beneath

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"golang.org/x/sys/unix"
)

// KeepsXattr reports whether versions contain an extended attribute.
func KeepsXattr(name string) bool {
	if strings.HasPrefix(name, "user.") {
		return true
	}
	return os.Geteuid() == 0 && (name == "security.capability" || strings.HasPrefix(name, "trusted."))
}

// xattrs returns the extended attributes of an open file that versions contain, by name.
func xattrs(fd int) ([]domarkx.Xattr, error) {
	list, err := sized(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if errors.Is(err, errors.ErrUnsupported) || err == nil && len(list) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var attrs []domarkx.Xattr
	for name := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		n := string(name)
		if !KeepsXattr(n) {
			continue
		}
		value, err := sized(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, n, buf) })
		if errors.Is(err, unix.ENODATA) {
			continue
		}
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, domarkx.Xattr{Name: n, Value: value})
	}
	slices.SortFunc(attrs, func(a, b domarkx.Xattr) int { return strings.Compare(a.Name, b.Name) })
	return attrs, nil
}

// sized calls f with larger and larger buffers until the result fits.
func sized(f func([]byte) (int, error)) ([]byte, error) {
	buf := make([]byte, 256)
	for {
		n, err := f(buf)
		if errors.Is(err, unix.ERANGE) {
			buf = make([]byte, 4*len(buf)) // at most 64 KiB are needed (xattr(7))
			continue
		}
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
}

// setXattrs replaces the kept attributes of an open file.
func setXattrs(fd int, want []domarkx.Xattr) error {
	have, err := xattrs(fd)
	if err != nil {
		return err
	}
	for _, a := range have {
		if !slices.ContainsFunc(want, func(w domarkx.Xattr) bool { return w.Name == a.Name }) {
			if err := unix.Fremovexattr(fd, a.Name); err != nil {
				return fmt.Errorf("removing the extended attribute %q: %w", a.Name, err)
			}
		}
	}
	for _, w := range want {
		if err := unix.Fsetxattr(fd, w.Name, w.Value, 0); err != nil {
			return fmt.Errorf("setting the extended attribute %q of %d bytes: %w", w.Name, len(w.Value), err)
		}
	}
	return nil
}

// Xattrs returns the extended attributes of the directory that versions contain, sorted by name.
func (d *Dir) Xattrs() ([]domarkx.Xattr, error) { return xattrs(d.fd) }

// SetXattrs replaces these attributes.
func (d *Dir) SetXattrs(want []domarkx.Xattr) error { return setXattrs(d.fd, want) }

// Xattrs returns the extended attributes of the file that versions contain, sorted by name.
func (f *File) Xattrs() ([]domarkx.Xattr, error) { return xattrs(int(f.Fd())) }

// SetXattrs replaces these attributes.
func (f *File) SetXattrs(want []domarkx.Xattr) error { return setXattrs(int(f.Fd()), want) }

// Chown changes the owner of the file at a path.
func (d *Dir) Chown(at string, f domarkx.File) error {
	if at == "" {
		return unix.Fchown(d.fd, int(f.UID), int(f.GID))
	}
	directory, err := d.Open(path.Dir(at))
	if err != nil {
		return err
	}
	defer directory.Close()
	name := path.Base(at)
	if f.Type != domarkx.Regular {
		return unix.Fchownat(directory.fd, name, int(f.UID), int(f.GID), unix.AT_SYMLINK_NOFOLLOW)
	}
	file, err := directory.OpenFile(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := unix.Fchown(int(file.Fd()), int(f.UID), int(f.GID)); err != nil {
		return err
	}
	// chown(2) clears set-id bits and capabilities.
	return errors.Join(file.Chmod(f.Mode), file.SetXattrs(f.Xattrs))
}
