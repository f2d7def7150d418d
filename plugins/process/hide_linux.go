package process

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// hide mounts an empty directory on a directory, so that the command can neither read its files nor
// lock them. The directories of the command that lie in it stay where they are.
func (c command) hide(dir string) error {
	trees := map[string]int{} // by path
	defer func() {
		for _, tree := range trees {
			unix.Close(tree)
		}
	}()
	kept := resolve(append(slices.Clone(c.Writable), c.Dir))
	slices.Sort(kept)
	for i, path := range kept {
		if !liesIn(path, []string{dir}) || liesIn(path, kept[:i]) {
			continue
		}
		if path == dir {
			return nil // nothing of it can be hidden
		}
		tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return err
		}
		trees[path] = tree
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755"); err != nil {
		return err
	}
	for path, tree := range trees {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return err
		}
	}
	return unix.MountSetattr(unix.AT_FDCWD, dir, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}
