// Package covertest tells tests whether files can be covered where they run, by what package
// cover and who uses it ask for: capabilities, a kernel, a disk of this machine, and room.
package covertest

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/fusefs/cover"
)

// Possible returns why files of a size cannot be unpacked into a folder and mounted over
// others by this process, nil when they can be. The folder is made.
func Possible(dir string, size int64) (err error) {
	f := cover.Open(dir)
	defer func() { err = errors.Join(err, f.Close()) }()
	file, err := f.Create(cover.Attributes{Permissions: 0o444, Owner: 65534, Size: size})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Remove()) }()
	if err := findable(dir); err != nil {
		return err
	}
	// As package versions leaves it.
	disk, free, err := f.Space()
	if err != nil {
		return err
	}
	if free < max(8*size, min(disk/10, 4<<30)) {
		return fmt.Errorf("%d bytes of %d are free in %q: too few", free, disk, dir)
	}
	return nil
}
