package mountd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// Dir returns the absolute path of the mount point: the directory that the user named, else domarkx.mount.dir, else a directory
// for this user and repository that disappears at reboot.
func (m *Mounts) Dir(ctx context.Context, named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	config, err := m.Git.Config(ctx)
	if err != nil {
		return "", err
	}
	dir, err := config.Path("domarkx.mount.dir")
	if err != nil {
		return "", err
	}
	switch {
	case filepath.IsAbs(dir):
		return dir, nil
	case dir != "" && m.Git.WorkTree != "":
		return filepath.Join(m.Git.WorkTree, dir), nil
	case dir != "":
		return "", fmt.Errorf("domarkx.mount.dir is %q: %w: a bare repository needs an absolute path", dir, domarkx.ErrInvalid)
	}
	base, err := m.runtimeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "git-domarkx", mountName(m.Git)), nil
}

// besideDir returns the directory for a separate mount of the workspaces, or "" if they
// can be mounted inside the mount on dir: only root can mount inside a FUSE mount.
func (m *Mounts) besideDir(dir string) (string, error) {
	if os.Geteuid() == 0 && runtime.GOOS == "linux" {
		return "", nil
	}
	base, err := m.runtimeDir()
	if err != nil {
		return "", err
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, filepath.Base(dir))
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(base, "git-domarkx", fmt.Sprintf("workspaces-%x", sum[:8])), nil
}

// mountName returns a unique name for the repository's mount that people recognise.
func mountName(git *gitcmd.Git) string {
	sum := sha256.Sum256([]byte(git.CommonDir))
	name := filepath.Base(git.WorkTree)
	if git.WorkTree == "" {
		name = filepath.Base(git.CommonDir)
	}
	return fmt.Sprintf("%s-%x", name, sum[:4])
}

// runtimeDir returns the user's runtime directory (XDG Base Directory Specification), or
// a private directory below the temporary directory.
func (m *Mounts) runtimeDir() (string, error) {
	if dir := m.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && writable(dir) {
		return dir, nil
	}
	if dir := "/run/user/" + uid(); writable(dir) {
		return dir, nil
	}
	return privateTemporary()
}

func uid() string { return strconv.Itoa(os.Getuid()) }

// privateTemporary returns a directory below the temporary directory that belongs to this user and that no other user can access.
// If there is another file of that name, the error is domarkx.ErrInvalid.
func privateTemporary() (string, error) {
	dir := filepath.Join(os.TempDir(), "git-domarkx-"+uid())
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("creating a directory for mounts: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("creating a directory for mounts: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !atomicfile.IsOurs(info) {
		return "", fmt.Errorf("creating a directory for mounts: %q: %w: it is not a directory that only you can access; remove it", dir, domarkx.ErrInvalid)
	}
	return dir, nil
}

// writable reports whether this user can create directories in dir.
func writable(dir string) bool {
	probe, err := os.MkdirTemp(dir, ".git-domarkx-")
	return err == nil && os.Remove(probe) == nil
}

// makeMountPoint creates the mount point. An existing directory must be empty, because the mount would hide its contents. If
// sessions are mounted on it, even by a dead server, makeMountPoint does not read it.
func makeMountPoint(dir string) error {
	if _, mounted := mountpoint.SourceOf(dir); mounted {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("creating the mount point: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("mounting on %q: %w", dir, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("mounting on %q: %w: the directory is not empty; mount on an empty one", dir, domarkx.ErrInvalid)
	}
	return nil
}
