package mountpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Recover unmounts a dead mount from a directory.
func Recover(_ context.Context, dir string) error {
	_, err := os.Stat(dir)
	if !errors.Is(err, syscall.ENXIO) && !errors.Is(err, syscall.ENOTCONN) {
		return nil
	}
	if err := unix.Unmount(dir, unix.MNT_FORCE); err != nil {
		return fmt.Errorf("removing a dead mount on %q: %w", dir, err)
	}
	return nil
}

// ClearDead unmounts a mount from a directory after its connection was cut.
func ClearDead(dir string) error { return Recover(context.Background(), dir) }

// UnmountLazily unmounts a living mount from a directory. Programs that use it get errors:
// macOS has no lazy unmount.
func UnmountLazily(dir string) error { return unix.Unmount(dir, unix.MNT_FORCE) }

// MountsDirectly returns false: macOS has only one way of mounting.
func MountsDirectly() bool { return false }

// KeepConnections does nothing.
func KeepConnections() error { return nil }

// Unmount unmounts a directory with sessions. While the mount is in use it returns a
// [*BusyError] and changes nothing. It returns domarkx.ErrNotFound if no sessions are
// mounted there.
func Unmount(ctx context.Context, dir string) error {
	inner := filepath.Join(dir, Workspaces)
	if beside, err := os.Readlink(inner); err == nil {
		inner = beside
	}
	return UnmountBoth(ctx, dir, inner)
}

// UnmountBoth unmounts the workspaces from inner, then the sessions from dir. Errors are those of [Unmount].
func UnmountBoth(_ context.Context, dir, inner string) error {
	err := unix.Unmount(inner, 0)
	if err == nil || errors.Is(err, syscall.EINVAL) { // the mount may have no workspaces
		err = unix.Unmount(dir, 0)
	}
	switch {
	case errors.Is(err, syscall.EBUSY):
		return &BusyError{Dir: dir} // macOS reports the users only to lsof(8)
	case errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("unmounting %q: %w: no sessions are mounted there", dir, domarkx.ErrNotFound)
	case err != nil:
		return fmt.Errorf("unmounting %q: %w", dir, err)
	}
	return nil
}
