package fusefs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx"
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

// clearDead unmounts a mount from a directory after its connection was cut.
func clearDead(dir string) error { return Recover(context.Background(), dir) }

// unmountLazily unmounts a living mount from a directory. Programs that use it get errors:
// macOS has no lazy unmount.
func unmountLazily(dir string) error { return unix.Unmount(dir, unix.MNT_FORCE) }

// mountsDirectly returns false: macOS has only one way of mounting.
func mountsDirectly() bool { return false }

// keepConnections does nothing.
func keepConnections() error { return nil }

// usable waits until a mount answers.
func usable(server *fuse.Server, _ string) error { return server.WaitMount() }

// Unmount unmounts a directory with sessions. While the mount is in use it returns a
// [*BusyError] and changes nothing.
func Unmount(ctx context.Context, dir string) error {
	return unmountBoth(ctx, dir, func(dir string) string {
		if beside, err := os.Readlink(filepath.Join(dir, workspacesName)); err == nil {
			return beside
		}
		return filepath.Join(dir, workspacesName)
	})
}

func unmountBoth(_ context.Context, dir string, innerOf func(dir string) string) error {
	err := unix.Unmount(innerOf(dir), 0)
	if err == nil || errors.Is(err, syscall.EINVAL) { // the mount may have no workspaces
		err = unix.Unmount(dir, 0)
	}
	switch {
	case errors.Is(err, syscall.EBUSY):
		users, err := Busy(dir)
		if err != nil {
			return err
		}
		return &BusyError{Dir: dir, Users: users}
	case errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("unmounting %q: %w: no sessions are mounted there", dir, domarkx.ErrNotFound)
	case err != nil:
		return fmt.Errorf("unmounting %q: %w", dir, err)
	}
	return nil
}

// Busy returns nobody: macOS reports the users of a mount only to lsof(8).
func Busy(string) ([]User, error) { return nil, nil }
