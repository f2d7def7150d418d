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

// mountDir returns the folder to mount on, absolute: the one that was named, else
// that of domarkx.mount.dir, else one of this user and repository that goes when
// the machine does.
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

// besideDir returns where the mount on a folder has the versions of workspaces when
// they cannot be inside, "" when they can: only root may look into the mount of a
// user, and mounting inside it takes that.
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

// mountName tells a person which repository it is, and no other has it.
func mountName(git *gitcmd.Git) string {
	sum := sha256.Sum256([]byte(git.CommonDir))
	name := filepath.Base(git.WorkTree)
	if git.WorkTree == "" {
		name = filepath.Base(git.CommonDir)
	}
	return fmt.Sprintf("%s-%x", name, sum[:4])
}

// runtimeDir returns the user's runtime folder (XDG Base Directory
// Specification), or a private one below the folder of temporary files.
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

// privateTemporary returns a folder below that of temporary files which nobody
// else can use, or could have made.
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

// writable reports whether dir is a folder in which this user can make another.
func writable(dir string) bool {
	probe, err := os.MkdirTemp(dir, ".git-domarkx-")
	return err == nil && os.Remove(probe) == nil
}
