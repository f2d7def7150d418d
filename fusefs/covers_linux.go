package fusefs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/cover"
)

// mountedAt returns the mount on a folder.
func mountedAt(dir string) (cover.Mount, bool) {
	all, err := mounts()
	if err != nil {
		return cover.Mount{}, false
	}
	top, ok := topmost(all, dir)
	at := cover.Mount{Dir: func() (string, error) { return whereIs(top.id) }}
	if ok {
		_, err = fmt.Sscanf(top.device, "%d:%d", &at.Major, &at.Minor)
	}
	return at, ok && err == nil
}

// whereIs returns the folder that a mount is on now, fs.ErrNotExist when it is gone.
func whereIs(id string) (string, error) {
	all, err := mounts()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all, func(m mounted) bool { return m.id == id })
	if i < 0 {
		return "", fmt.Errorf("mount %s: %w", id, fs.ErrNotExist)
	}
	return all[i].dir, nil
}

// Unpacked reports whether files of the disk are mounted over some in a mount, which may
// be dead: their room is only free when it is unmounted.
func Unpacked(dir string) bool {
	dir, err := canonical(dir)
	if err != nil {
		return false
	}
	all, err := mounts()
	return err == nil && slices.ContainsFunc(all, func(m mounted) bool {
		_, below := under(m.dir, dir)
		return below && cover.Is(m.root)
	})
}

// uncover takes away what is mounted over files in the mount of workspaces. That asks its
// server, which better is another process.
func uncover(inner string) error {
	all, err := mounts()
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range all {
		if below, ok := under(m.dir, inner); !ok || below == "" || !cover.Is(m.root) {
			continue
		}
		// One that is gone already is right.
		if err := unix.Unmount(m.dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && err != unix.EINVAL && err != unix.ENOENT {
			errs = append(errs, fmt.Errorf("unmounting %q: %w", m.dir, err))
		}
	}
	return errors.Join(errs...)
}
