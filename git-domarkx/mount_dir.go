package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// mountDir returns the absolute path of the mount point: the directory the user named,
// else domarkx.mount.dir, else a directory specific to this user and repository that
// disappears at reboot.
func (inv *invocation) mountDir(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	git, err := inv.git()
	if err != nil {
		return "", err
	}
	config, err := git.Config(inv.ctx)
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
	case dir != "" && git.WorkTree != "":
		return filepath.Join(git.WorkTree, dir), nil
	case dir != "":
		return "", fmt.Errorf("domarkx.mount.dir is %q: %w: a bare repository needs an absolute path", dir, domarkx.ErrInvalid)
	}
	base, err := inv.runtimeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "git-domarkx", mountName(git)), nil
}

// besideDir returns where the versions of workspaces are mounted if that cannot be inside
// the mount on dir, and "" if it can. Only root can mount inside a FUSE mount.
func (inv *invocation) besideDir(dir string) (string, error) {
	if os.Geteuid() == 0 && runtime.GOOS == "linux" {
		return "", nil
	}
	base, err := inv.runtimeDir()
	if err != nil {
		return "", err
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, filepath.Base(dir))
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(base, "git-domarkx", fmt.Sprintf("workspaces-%x", sum[:8])), nil
}

// mountName returns a name for the repository's mount that people recognise and that is
// unique.
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
func (inv *invocation) runtimeDir() (string, error) {
	if dir := inv.getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && writable(dir) {
		return dir, nil
	}
	if dir := "/run/user/" + uid(); writable(dir) {
		return dir, nil
	}
	return privateTemporary()
}

func uid() string { return strconv.Itoa(os.Getuid()) }

// privateTemporary returns a directory below the temporary directory that belongs to this
// user and that no other user can access.
func privateTemporary() (string, error) {
	dir := filepath.Join(os.TempDir(), "git-domarkx-"+uid())
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("creating a directory for mounts: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("creating a directory for mounts: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ownedByUs(info) {
		return "", fmt.Errorf("creating a directory for mounts: %q: %w: other users can write to it; name another directory", dir, domarkx.ErrInvalid)
	}
	return dir, nil
}

// writable reports whether this user can create directories in dir.
func writable(dir string) bool {
	probe, err := os.MkdirTemp(dir, ".git-domarkx-")
	return err == nil && os.Remove(probe) == nil
}
