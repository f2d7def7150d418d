package dirversion

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx"
)

// Own sets the owners that a version records on files that Write wrote. Only root may change
// owners.
func Own(ctx context.Context, r domarkx.VersionReader, version, path string) error {
	top, err := openTop(path)
	if err != nil {
		return err
	}
	defer top.close()
	return domarkx.WalkVersion(ctx, r, version, func(at string, f domarkx.File) error {
		if !f.HasOwner || f.HardLink != "" {
			return nil
		}
		return explain(at, top.own(at, f))
	})
}

// own changes the owner of the file at a path.
func (d *dir) own(at string, f domarkx.File) error {
	if at == "" {
		return unix.Fchown(d.fd, int(f.UID), int(f.GID))
	}
	parent, name := split(at)
	directory, err := d.open(parent)
	if err != nil {
		return err
	}
	defer directory.close()
	if f.Type != domarkx.Regular {
		return unix.Fchownat(directory.fd, name, int(f.UID), int(f.GID), unix.AT_SYMLINK_NOFOLLOW)
	}
	file, err := directory.openFile(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := unix.Fchown(file.fd, int(f.UID), int(f.GID)); err != nil {
		return err
	}
	// chown(2) clears set-id bits and capabilities.
	return errors.Join(chmodFile(file, f.Mode), setFileXattrs(file, f.Xattrs))
}
