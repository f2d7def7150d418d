package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/tree"
)

// restorer writes versions of resources to folders of this machine.
type restorer struct{}

// Restore makes a folder and writes a version below it.
func (restorer) Restore(ctx context.Context, r domarkx.VersionReader, version, dir string, privileged bool) (left []string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	warn := func(message string) { left = append(left, message) }
	if privileged && os.Geteuid() == 0 {
		err := tree.Write(ctx, r, version, dir, warn)
		if err == nil {
			err = tree.Own(ctx, r, version, dir)
		}
		return left, err
	}
	reader := &unprivileged{VersionReader: r}
	if err := tree.Write(ctx, reader, version, dir, warn); err != nil {
		return left, err
	}
	if n := reader.owned.Load(); n > 0 {
		warn(fmt.Sprintf("%d files are yours, not their owners': only root gives files away, with --yes", n))
	}
	if n := reader.lent.Load(); n > 0 {
		warn(fmt.Sprintf("%d files lose their set-id bits: they would lend your rights, not those of the files' owners", n))
	}
	if reader.devices.Load() == 0 {
		return left, nil
	}
	const most = 10
	devices := 0
	err = domarkx.WalkVersion(ctx, r, version, func(path string, f domarkx.File) error {
		if isDevice(f) {
			if devices++; devices <= most {
				warn(fmt.Sprintf("%s is left out: it is a %s, which only root makes, with --yes", path, f.Type))
			}
		}
		return nil
	})
	if devices > most {
		warn(fmt.Sprintf("%d more devices are left out", devices-most))
	}
	return left, err
}

// Remove removes a folder with all below it.
func (restorer) Remove(dir string) error {
	return errors.Join(tree.Empty(dir), os.Remove(dir))
}

// unprivileged reads a version as far as a user without privileges can have it.
type unprivileged struct {
	domarkx.VersionReader
	devices, owned, lent atomic.Int64
}

// Folder returns the files of a folder without devices, and without set-id bits that are
// of another owner or group than the files get.
func (u *unprivileged) Folder(ctx context.Context, id string) ([]domarkx.File, error) {
	files, err := u.VersionReader.Folder(ctx, id)
	all := len(files)
	files = slices.DeleteFunc(slices.Clone(files), isDevice)
	u.devices.Add(int64(all - len(files)))
	for i := range files {
		f := &files[i]
		var lent uint32
		if f.HasOwner && f.UID != uint32(os.Geteuid()) {
			lent |= setUID
		}
		if f.HasOwner && f.GID != uint32(os.Getegid()) {
			lent |= setGID
		}
		if lent != 0 {
			u.owned.Add(1)
		}
		if f.Mode&lent != 0 {
			u.lent.Add(1)
			f.Mode &^= lent
		}
	}
	return files, err
}

// The bits of a mode by which a program runs with the rights of its file's owner or group
// (inode(7)).
const (
	setUID = 0o4000
	setGID = 0o2000
)

func isDevice(f domarkx.File) bool {
	return f.Type == domarkx.CharDevice || f.Type == domarkx.BlockDevice
}
