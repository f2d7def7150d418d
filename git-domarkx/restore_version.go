package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
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
		err := dirversion.Write(ctx, r, version, dir, warn)
		if err == nil {
			err = dirversion.Own(ctx, r, version, dir)
		}
		return left, err
	}
	reader := &unprivileged{VersionReader: r}
	if err := dirversion.Write(ctx, reader, version, dir, warn); err != nil || !reader.changed.Load() {
		return left, err
	}
	lost, err := lossesOf(ctx, r, version)
	return append(left, lost...), err
}

// lossesOf says what of a version a user without privileges cannot have.
func lossesOf(ctx context.Context, r domarkx.VersionReader, version string) (left []string, err error) {
	const most = 10
	owned, lent, devices := 0, 0, 0
	err = domarkx.WalkVersion(ctx, r, version, func(path string, f domarkx.File) error {
		switch foreign := foreignBits(f); {
		case isDevice(f):
			if devices++; devices <= most {
				left = append(left, fmt.Sprintf("%s is left out: it is a %s, which only root makes, with --yes", path, f.Type))
			}
		case f.Mode&foreign != 0:
			lent++
			fallthrough
		case foreign != 0:
			owned++
		}
		return nil
	})
	if devices > most {
		left = append(left, fmt.Sprintf("%d more devices are left out", devices-most))
	}
	if owned > 0 {
		left = append(left, fmt.Sprintf("%d files are yours, not their owners': only root gives files away, with --yes", owned))
	}
	if lent > 0 {
		left = append(left, fmt.Sprintf("%d files lose their set-id bits: they would lend your rights, not those of the files' owners", lent))
	}
	return left, err
}

// Remove removes a folder with all below it.
func (restorer) Remove(dir string) error {
	return errors.Join(dirversion.Empty(dir), os.Remove(dir))
}

// unprivileged reads a version as far as a user without privileges can have it.
type unprivileged struct {
	domarkx.VersionReader
	changed atomic.Bool // something was left out, or is another's
}

// Folder returns the files of a folder without devices, and without set-id bits that are
// of another owner or group than the files get.
func (u *unprivileged) Folder(ctx context.Context, id string) ([]domarkx.File, error) {
	files, err := u.VersionReader.Folder(ctx, id)
	all := len(files)
	files = slices.DeleteFunc(slices.Clone(files), isDevice)
	if len(files) < all {
		u.changed.Store(true)
	}
	for i := range files {
		if foreign := foreignBits(files[i]); foreign != 0 {
			files[i].Mode &^= foreign
			u.changed.Store(true)
		}
	}
	return files, err
}

// foreignBits returns the set-id bits that would be of another user or group than the
// file's, if this process made it.
func foreignBits(f domarkx.File) (bits uint32) {
	if f.HasOwner && f.UID != uint32(os.Geteuid()) {
		bits |= setUID
	}
	if f.HasOwner && f.GID != uint32(os.Getegid()) {
		bits |= setGID
	}
	return bits
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
