package odb

import (
	"errors"
	"io/fs"
	"os"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// createInPack creates a file for the pack directory, with the permissions of Git's objects. It creates the directory if
// necessary. `git prune` does not remove the file while it has no name or a temporary one.
func (d *Database) createInPack() (*atomicfile.File, error) {
	mode, shared := d.sharedMode()
	if err := d.makePackDir(mode, shared); err != nil {
		return nil, writeError("make pack directory", err)
	}
	f, err := atomicfile.New(d.packDir(), 0o444)
	if err == nil && shared {
		if err = f.Chmod(mode & 0o444); err != nil {
			err = errors.Join(err, f.Abort())
		}
	}
	return f, writeError("create pack", err)
}

// sharedMode returns the permissions of the object directory, and whether its group may write. Git has set them according to
// core.sharedRepository (git-config(1)), and new files and directories must have them then.
func (d *Database) sharedMode() (mode fs.FileMode, shared bool) {
	info, err := os.Stat(d.dirs[0])
	if err != nil {
		return 0, false
	}
	return info.Mode() & (fs.ModePerm | fs.ModeSetgid), info.Mode()&0o020 != 0
}

func (d *Database) makePackDir(mode fs.FileMode, shared bool) error {
	err := os.Mkdir(d.packDir(), 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil && shared {
		err = os.Chmod(d.packDir(), mode)
	}
	if err != nil {
		return err
	}
	return atomicfile.SyncDir(d.dirs[0])
}
