package fusefs

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

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx"
)

// usable has nothing to wait for: mount(2) has returned, and whoever asks the mount
// something waits for the server to begin. The server must not ask itself, see serve.
func usable(*fuse.Server, string) error { return nil }

// Recover clears away what dead mounts of this package left on a folder. A living
// mount, or one of another kind, is domarkx.ErrExists.
func Recover(ctx context.Context, dir string) error {
	dir, err := canonical(dir)
	if err != nil {
		return fmt.Errorf("looking at %q: %w", dir, err)
	}
	for range 64 { // they stack
		all, err := mounts()
		if err != nil {
			return err
		}
		top, ok := topmost(all, dir)
		if !ok {
			return nil
		}
		if !dead(dir) {
			return fmt.Errorf("%q: %w: %s is mounted there", dir, domarkx.ErrExists, top.kind)
		}
		if top.kind != FileSystem {
			return fmt.Errorf("%q: %w: a dead %s is mounted there, unmount it first", dir, domarkx.ErrExists, top.kind)
		}
		if err := detach(ctx, dir); err != nil {
			return fmt.Errorf("clearing away a dead mount on %q: %w", dir, err)
		}
	}
	return fmt.Errorf("%q: %w: too many dead mounts", dir, domarkx.ErrExists)
}

// clearDead clears away what a mount of this package that has ended left on a folder,
// whose path is canonical, when its connection was cut. The folder may be in a mount
// of this process, which only others may ask: when it is killed while it waits for
// its own answer, it never ends, and who uses the mount neither.
func clearDead(dir string) error {
	all, err := mounts()
	if err != nil {
		return err
	}
	if top, ok := topmost(all, dir); !ok || top.kind != FileSystem {
		return nil
	}
	if mountsDirectly() {
		return detach(context.Background(), dir)
	}
	return fusermount(context.Background(), "-u", "-z", "--", dir)
}

// unmountLazily detaches a living mount of this package from a directory. Programs that
// use it can continue; the mount ends when the last of them leaves.
func unmountLazily(dir string) error { return clearDead(dir) }

// mountsDirectly reports whether mounts inside our own are made with mount(2): it
// asks our own server, which must not be killed meanwhile, so that another program
// is better.
func mountsDirectly() bool {
	_, err := fusermountProgram()
	return err != nil
}

// keepConnections lets no program that is started have this process's connections.
func keepConnections() error {
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

// canonical returns the absolute path without symbolic links, as the mount table
// has it. Nothing that is mounted on the folder is asked: its server may be stopped.
func canonical(dir string) (string, error) {
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
		all, err := mounts()
		if err != nil {
			return dir, err
		}
		if _, ok := topmost(all, dir); ok {
			return dir, nil
		}
		target, err := os.Readlink(dir)
		if err != nil {
			return dir, nil // no symbolic link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(parent, target)
		}
		dir = target
	}
	return dir, fmt.Errorf("%q: %w", dir, syscall.ELOOP)
}

// topmost returns the mount on a folder that covers the others.
func topmost(all []mounted, dir string) (mounted, bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].dir == dir {
			return all[i], true
		}
	}
	return mounted{}, false
}

// dead reports whether the process that served a mount is gone.
func dead(dir string) bool {
	// Not stat(2): the kernel answers that from its cache for a while.
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	return errors.Is(err, syscall.ENOTCONN) || errors.Is(err, syscall.ECONNABORTED)
}

// detach unmounts lazily: who still uses it gets errors, but the folder is free.
func detach(ctx context.Context, dir string) error {
	if err := unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != unix.EPERM {
		return err
	}
	return fusermount(ctx, "-u", "-z", "--", dir)
}

// Unmount unmounts a folder that sessions are mounted on, also by another process.
// While somebody uses it, it stays whole; the error is a [*BusyError]. A folder
// that no sessions are mounted on is domarkx.ErrNotFound.
func Unmount(ctx context.Context, dir string) error { return unmountBoth(ctx, dir, innerDir) }

// unmountBoth unmounts a folder, and before it the one that workspaces are mounted
// on.
func unmountBoth(ctx context.Context, dir string, innerOf func(dir string) string) error {
	dir, err := canonical(dir)
	if err != nil {
		return fmt.Errorf("unmounting %q: %w", dir, err)
	}
	all, err := mounts()
	if err != nil {
		return err
	}
	top, ok := topmost(all, dir)
	if !ok || top.kind != FileSystem {
		return fmt.Errorf("unmounting %q: %w: no sessions are mounted there", dir, domarkx.ErrNotFound)
	}
	if dead(dir) {
		return detach(ctx, dir)
	}
	inner := innerOf(dir)
	// Who has just closed its last file counts as a user for a moment longer, which is a long one
	// where there is much to do. Who is still seen then is one.
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
	if _, nested := topmost(all, inner); nested {
		awaitInner(ctx, inner)
	}
	users, uerr := usersOf(dir, inner)
	if uerr == nil && (len(users) > 0 || errors.Is(err, syscall.EBUSY)) {
		return &BusyError{Dir: dir, Users: users}
	}
	return fmt.Errorf("unmounting %q: %w", dir, err)
}

// innerDir returns the folder that the workspaces of a mount are mounted on.
func innerDir(dir string) string {
	inside := filepath.Join(dir, workspacesName)
	if beside, err := os.Readlink(inside); err == nil {
		if real, err := canonical(beside); err == nil {
			return real
		}
	}
	return inside
}

// unmountAll unmounts what is mounted inside, then the folder itself. While somebody
// is seen to use either, it begins with neither.
func unmountAll(ctx context.Context, dir, inner string) error {
	all, err := mounts()
	if err != nil {
		return err
	}
	if top, ok := topmost(all, inner); ok && top.kind == FileSystem {
		if users, err := usersOf(dir, inner); err != nil || len(users) > 0 {
			return errors.Join(err, syscall.EBUSY)
		}
		if err := unmount(ctx, inner); err != nil {
			return err
		}
	}
	return unmount(ctx, dir)
}

// awaitInner waits until the server of a mount that could not be unmounted has
// mounted again what is inside.
func awaitInner(ctx context.Context, inner string) {
	for deadline := time.Now().Add(10 * patience); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		if all, err := mounts(); err != nil {
			return
		} else if _, ok := topmost(all, inner); ok {
			return
		}
	}
}

// usersOf returns who uses a mount, or the one of its workspaces.
func usersOf(dir, inner string) ([]User, error) {
	users, err := Busy(dir)
	if _, inside := under(inner, dir); err != nil || inside {
		return users, err
	}
	more, err := busy(inner, workspacesName)
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

// fusermount does what only root may do otherwise.
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
