package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// restoreVersion creates dir and writes a version of a resource below it, never through a symbolic link. It omits devices and
// owners unless privileged is set and this user may create them. left describes the omissions.
func restoreVersion(ctx context.Context, r domarkx.VersionReader, version, dir string, privileged bool) (left []string, err error) {
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
	if err := dirversion.Write(ctx, unprivileged{r}, version, dir, warn); err != nil {
		return left, err
	}
	lost, err := lossesOf(ctx, r, version)
	return append(left, lost...), err
}

// lossesOf describes what an unprivileged user loses from a version: devices, owners and set-id bits.
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

// removeRestored deletes a directory that restoreVersion has written, even if the permissions in it forbid that.
func removeRestored(dir string) error {
	return errors.Join(dirversion.Empty(dir), os.Remove(dir))
}

// An unprivileged reads a version without files and attributes that only a privileged user can create.
type unprivileged struct{ domarkx.VersionReader }

// Directory returns the entries of a directory without devices. It clears set-id bits that
// would apply to the wrong owner or group.
func (u unprivileged) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	files, err := u.VersionReader.Directory(ctx, id)
	files = slices.DeleteFunc(slices.Clone(files), isDevice)
	for i := range files {
		files[i].Mode &^= foreignBits(files[i])
	}
	return files, err
}

// foreignBits returns the set-id bits that must be cleared because this process cannot give the file its owner or group.
func foreignBits(f domarkx.File) (bits uint32) {
	if f.HasOwner && f.UID != uint32(os.Geteuid()) {
		bits |= setUID
	}
	if f.HasOwner && f.GID != uint32(os.Getegid()) {
		bits |= setGID
	}
	return bits
}

// The mode bits that make a program run with the rights of its file's owner or group (inode(7)).
const (
	setUID = 0o4000
	setGID = 0o2000
)

func isDevice(f domarkx.File) bool {
	return f.Type == domarkx.CharDevice || f.Type == domarkx.BlockDevice
}
