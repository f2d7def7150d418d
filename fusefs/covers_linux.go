package fusefs

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/cover"
)

// mountedAt returns the mount on a folder.
func mountedAt(dir string) (cover.Mount, bool) {
	all, err := mounts()
	if err != nil {
		return cover.Mount{}, false
	}
	at := cover.Mount{Dir: dir}
	top, ok := topmost(all, dir)
	if ok {
		_, err = fmt.Sscanf(top.device, "%d:%d", &at.Major, &at.Minor)
	}
	return at, ok && err == nil
}

// uncover takes away what is mounted over files in the mount of workspaces. That asks its
// server, which better is another process.
func uncover(inner string) error {
	all, err := mounts()
	if err != nil {
		return err
	}
	for _, m := range all {
		if below, ok := under(m.dir, inner); !ok || below == "" || !cover.Is(m.root) {
			continue
		}
		// One that is gone already is right.
		if err := unix.Unmount(m.dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && err != unix.EINVAL && err != unix.ENOENT {
			return fmt.Errorf("unmounting %q: %w", m.dir, err)
		}
	}
	return nil
}
