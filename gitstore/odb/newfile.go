package odb

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A newFile is a file in the pack directory that is being written. It has no name where the system supports that, so that a kill
// leaves nothing of it, and otherwise a temporary name. `git prune` removes neither.
type newFile struct {
	f    *os.File // nil after the file is closed or discarded
	temp string   // its temporary name, "" for none
}

// createInPack creates a file for the pack directory, with the permissions of Git's objects. It creates the directory if
// necessary.
func (d *Database) createInPack() (newFile, error) {
	mode, shared := d.sharedMode()
	if err := d.makePackDir(mode, shared); err != nil {
		return newFile{}, writeError("make pack directory", err)
	}
	var n newFile
	var err error
	n.f, err = atomicfile.CreateUnnamed(d.packDir(), 0o444)
	if errors.Is(err, errors.ErrUnsupported) {
		n.temp = filepath.Join(d.packDir(), atomicfile.TempPrefix+strconv.FormatUint(rand.Uint64(), 36))
		n.f, err = os.OpenFile(n.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444)
	}
	if err == nil && shared {
		if err = n.f.Chmod(mode & 0o444); err != nil {
			n.discard()
		}
	}
	return n, writeError("create pack", err)
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

// place gives a durable file its name, which no file has.
func (n *newFile) place(path string) error {
	if n.temp == "" {
		return atomicfile.Link(n.f, path)
	}
	err := os.Rename(n.temp, path)
	if err == nil {
		n.temp = ""
	}
	return err
}

func (n *newFile) close() error {
	err := n.f.Close()
	n.f = nil
	return err
}

// discard closes the file. It removes the file if that has only a temporary name.
func (n *newFile) discard() {
	if n.f == nil {
		return
	}
	n.f.Close()
	n.f = nil
	if n.temp != "" {
		os.Remove(n.temp)
	}
}
