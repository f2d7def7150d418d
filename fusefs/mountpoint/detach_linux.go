package mountpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
)

// SourceOf returns the label (Label in fusefs.Options) of the mount of sessions on a
// directory, and whether there is one, dead or alive. It only reads the mount table.
func SourceOf(dir string) (source string, ok bool) {
	dir, err := Resolve(dir)
	if err != nil {
		return "", false
	}
	top, ok, _ := topmostNow(dir)
	return top.Source, ok && top.Kind == FileSystem
}

// Detach unmounts a mount of sessions at once, even if it is in use, together with the
// mount of its workspaces on beside, or inside it if beside is "". It does not wait for a
// server: pending requests fail. It returns domarkx.ErrNotFound if no sessions are
// mounted on dir.
func Detach(ctx context.Context, dir, beside string) error {
	dir, err := Resolve(dir)
	if err != nil {
		return fmt.Errorf("detaching %q: %w", dir, err)
	}
	if beside != "" {
		if beside, err = Resolve(beside); err != nil {
			return fmt.Errorf("detaching %q: %w", beside, err)
		}
	}
	all, err := Mounts()
	if err != nil {
		return err
	}
	if top, ok := topmost(all, dir); !ok || top.Kind != FileSystem {
		return fmt.Errorf("detaching %q: %w: no sessions are mounted there", dir, domarkx.ErrNotFound)
	}
	var errs []error
	inside := filepath.Join(dir, Workspaces)
	for _, m := range all {
		if m.Kind == FileSystem && (m.Dir == dir || m.Dir == inside || m.Dir == beside) {
			abort(m.Device)
		}
	}
	// As root, this first call only ends the connections. After that, the kernel finds
	// the path of the inner mount without the server.
	for _, at := range []string{dir, inside} {
		_ = unix.Unmount(at, unix.MNT_FORCE|unix.UMOUNT_NOFOLLOW)
	}
	for _, at := range []string{beside, dir} {
		if top, ok := topmost(all, at); !ok || top.Kind != FileSystem {
			continue
		}
		if err := unix.Unmount(at, unix.MNT_FORCE|unix.UMOUNT_NOFOLLOW); err == nil || err == unix.EINVAL {
			continue // already unmounted
		}
		if err := detach(ctx, at); err != nil {
			errs = append(errs, fmt.Errorf("detaching %q: %w", at, err))
		}
	}
	return errors.Join(errs...)
}

// abort ends the connection of a mount, so that pending requests fail. It does nothing
// without the control files of FUSE: then only root can end a connection, by unmounting.
func abort(device string) {
	_, minor, _ := strings.Cut(device, ":")
	f, err := os.OpenFile(filepath.Join("/sys/fs/fuse/connections", minor, "abort"), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = unix.Write(int(f.Fd()), []byte("1"))
}
