package mountpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Recover unmounts dead mounts of this package from a directory. It returns
// domarkx.ErrExists for a living mount or one of another kind.
func Recover(ctx context.Context, dir string) error {
	dir, err := Resolve(dir)
	if err != nil {
		return fmt.Errorf("resolving %q: %w", dir, err)
	}
	for range 64 { // dead mounts can lie on each other
		top, ok, err := topmostNow(dir)
		if err != nil || !ok {
			return err
		}
		if !dead(dir) {
			return fmt.Errorf("%q: %w: %s is mounted there", dir, domarkx.ErrExists, top.Kind)
		}
		if top.Kind != FileSystem {
			return fmt.Errorf("%q: %w: a dead %s is mounted there; unmount it first", dir, domarkx.ErrExists, top.Kind)
		}
		if err := detach(ctx, dir); err != nil {
			return fmt.Errorf("removing a dead mount on %q: %w", dir, err)
		}
	}
	return fmt.Errorf("%q: %w: too many dead mounts", dir, domarkx.ErrExists)
}

// ClearDead unmounts a mount of this package whose connection was cut. dir must be
// canonical. dir may lie in a mount that this process serves. So, if it is installed,
// fusermount unmounts: a process that is killed while it waits for its own answer never
// ends, nor do the users of its mount.
func ClearDead(dir string) error {
	if top, ok, err := topmostNow(dir); err != nil || !ok || top.Kind != FileSystem {
		return err
	}
	if MountsDirectly() {
		return detach(context.Background(), dir)
	}
	return fusermount(context.Background(), "-u", "-z", "--", dir)
}

// UnmountLazily detaches a living mount of this package from a directory. Programs that
// use it can continue; the mount ends when the last of them has closed its files. dir
// must be canonical.
func UnmountLazily(dir string) error { return ClearDead(dir) }

// MountsDirectly reports whether this process must use mount(2) to mount inside its own
// mount, because fusermount is missing. mount(2) sends requests to this process: if it is
// killed before it answers them, it never ends.
func MountsDirectly() bool {
	_, err := fusermountProgram()
	return err != nil
}

// KeepConnections keeps programs that this process starts from inheriting the connections
// of its mounts: it sets close-on-exec on them.
func KeepConnections() error {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("looking for the connections of mounts: %w", err)
	}
	for _, fd := range fds {
		n, err := strconv.Atoi(fd.Name())
		if path, rerr := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && rerr == nil && path == "/dev/fuse" {
			unix.CloseOnExec(n)
		}
	}
	return nil
}

// Resolve returns the absolute path without symbolic links, as in the mount table. It
// sends no request to a mount on the directory, whose server may be stopped.
func Resolve(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return dir, err
	}
	for range 40 { // as many symbolic links as Linux follows
		parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
		if err != nil {
			return dir, nil // it does not exist
		}
		dir = filepath.Join(parent, filepath.Base(dir))
		if _, ok, err := topmostNow(dir); ok || err != nil {
			return dir, err
		}
		target, err := os.Readlink(dir)
		if err != nil {
			return dir, nil // not a symbolic link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(parent, target)
		}
		dir = target
	}
	return dir, fmt.Errorf("%q: %w", dir, syscall.ELOOP)
}

// topmostNow is topmost in the mount table as it is.
func topmostNow(dir string) (Mount, bool, error) {
	all, err := Mounts()
	top, ok := topmost(all, dir)
	return top, ok, err
}

func topmost(all []Mount, dir string) (Mount, bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Dir == dir {
			return all[i], true
		}
	}
	return Mount{}, false
}

// dead reports whether the process that served a mount has ended.
func dead(dir string) bool {
	// The kernel would answer stat(2) from its cache for a while.
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	return errors.Is(err, syscall.ENOTCONN) || errors.Is(err, syscall.ECONNABORTED)
}

// detach unmounts lazily (umount2(2), MNT_DETACH): the directory is free at once, and
// open files of a dead mount return errors.
func detach(ctx context.Context, dir string) error {
	if err := unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != unix.EPERM {
		return err
	}
	return fusermount(ctx, "-u", "-z", "--", dir)
}

// Unmount unmounts a directory with sessions, also one of another process. While the mount
// is in use it returns a [*BusyError] and changes nothing. It returns domarkx.ErrNotFound
// if no sessions are mounted there.
func Unmount(ctx context.Context, dir string) error { return UnmountBoth(ctx, dir, "") }

// UnmountBoth unmounts the workspaces from inner ("" for where MNT/workspaces leads), then the
// sessions from dir. Errors are those of [Unmount].
func UnmountBoth(ctx context.Context, dir, inner string) error {
	dir, err := Resolve(dir)
	if err != nil {
		return fmt.Errorf("unmounting %q: %w", dir, err)
	}
	top, ok, err := topmostNow(dir)
	if err != nil {
		return err
	}
	if !ok || top.Kind != FileSystem {
		return fmt.Errorf("unmounting %q: %w: no sessions are mounted there", dir, domarkx.ErrNotFound)
	}
	if dead(dir) {
		return detach(ctx, dir)
	}
	if inner == "" {
		inner = innerDir(dir)
	}
	_, nested, _ := topmostNow(inner)
	// A process that has just closed its last file counts as a user for a moment, longer
	// on a busy machine. A process that still counts after that is a user.
	for wait := 5 * time.Millisecond; ; wait *= 2 {
		err = unmountAll(ctx, dir, inner)
		if err == nil || wait > 2*time.Second {
			break
		}
		if wait > 100*time.Millisecond {
			if users, uerr := usersOf(dir, inner); uerr != nil || len(users) > 0 {
				break
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err == nil {
		return nil
	}
	if nested {
		awaitInner(ctx, inner)
	}
	users, uerr := usersOf(dir, inner)
	if uerr == nil && (len(users) > 0 || errors.Is(err, syscall.EBUSY)) {
		return &BusyError{Dir: dir, Users: users}
	}
	return fmt.Errorf("unmounting %q: %w", dir, err)
}

// innerDir returns the directory on which the workspaces of a mount are mounted.
func innerDir(dir string) string {
	inside := filepath.Join(dir, Workspaces)
	if beside, err := os.Readlink(inside); err == nil {
		if real, err := Resolve(beside); err == nil {
			return real
		}
	}
	return inside
}

// unmountAll unmounts the workspaces, then the sessions. It unmounts neither if either
// has users.
func unmountAll(ctx context.Context, dir, inner string) error {
	top, ok, err := topmostNow(inner)
	if err != nil {
		return err
	}
	if ok && top.Kind == FileSystem {
		if users, err := usersOf(dir, inner); err != nil || len(users) > 0 {
			return errors.Join(err, syscall.EBUSY)
		}
		if err := unmount(ctx, inner); err != nil {
			return err
		}
	}
	return unmount(ctx, dir)
}

// awaitInner waits until the server has mounted the workspaces again, after only the
// sessions could not be unmounted.
func awaitInner(ctx context.Context, inner string) {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		if _, ok, err := topmostNow(inner); ok || err != nil {
			return
		}
	}
}

// usersOf returns the users of a mount and of the mount of its workspaces.
func usersOf(dir, inner string) ([]User, error) {
	users, err := Busy(dir)
	if _, inside := under(inner, dir); err != nil || inside {
		return users, err
	}
	more, err := busy(inner, Workspaces)
	return append(users, more...), err
}

func unmount(ctx context.Context, dir string) error {
	if err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW); err != unix.EPERM {
		return err
	}
	return fusermount(ctx, "-u", "--", dir)
}

func fusermountProgram() (string, error) {
	program, err := exec.LookPath("fusermount3")
	if err != nil {
		program, err = exec.LookPath("fusermount")
	}
	return program, err
}

// fusermount runs fusermount3, which has the privileges that mount(2) and umount(2) need.
func fusermount(ctx context.Context, args ...string) error {
	program, err := fusermountProgram()
	if err != nil {
		return fmt.Errorf("unmounting needs fusermount3 (Debian: apt-get install fuse3): %w", err)
	}
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(out)))
	}
	return nil
}
