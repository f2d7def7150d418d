package mountpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Resolve returns the absolute path of a directory, with the symbolic links in its parent
// resolved.
func Resolve(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return dir, err
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, filepath.Base(dir))
	}
	return dir, nil
}

// SourceOf returns the label (Label in fusefs.Options) of the mount of sessions on a
// directory, and whether there is one, dead or alive. It only reads the mount table.
func SourceOf(dir string) (source string, ok bool) {
	dir, err := Resolve(dir)
	if err != nil {
		return "", false
	}
	n, err := unix.Getfsstat(nil, unix.MNT_NOWAIT)
	if err != nil {
		return "", false
	}
	all := make([]unix.Statfs_t, n)
	if n, err = unix.Getfsstat(all, unix.MNT_NOWAIT); err != nil {
		return "", false
	}
	for _, st := range all[:min(n, len(all))] {
		if unix.ByteSliceToString(st.Mntonname[:]) == dir && strings.Contains(unix.ByteSliceToString(st.Fstypename[:]), "fuse") {
			return unix.ByteSliceToString(st.Mntfromname[:]), true
		}
	}
	return "", false
}

// Detach unmounts a mount of sessions at once, even if it is in use, and the mount of its
// workspaces on beside ("" for none).
func Detach(_ context.Context, dir, beside string) error {
	if _, ok := SourceOf(dir); !ok {
		return fmt.Errorf("detaching %q: %w: no sessions are mounted there", dir, domarkx.ErrNotFound)
	}
	if _, ok := SourceOf(beside); beside != "" && ok {
		if err := unix.Unmount(beside, unix.MNT_FORCE); err != nil {
			return fmt.Errorf("detaching %q: %w", beside, err)
		}
	}
	if err := unix.Unmount(dir, unix.MNT_FORCE); err != nil {
		return fmt.Errorf("detaching %q: %w", dir, err)
	}
	return nil
}
