package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
)

// A lack is something without which sessions cannot be mounted.
type lack struct{ what, where, fix string }

func (l lack) Error() string { return fmt.Sprintf("%s; to mend it: %s", l.what, l.fix) }

// missingForMount returns the requirements of a mount that this machine lacks.
func missingForMount() []lack {
	if runtime.GOOS != "linux" {
		return nil
	}
	var missing []lack
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	switch {
	case err == nil:
		device.Close()
	case errors.Is(err, fs.ErrPermission):
		missing = append(missing, lack{"mounting is impossible: you may not open /dev/fuse", "/dev/fuse", "as root: chmod 666 /dev/fuse"})
	default:
		missing = append(missing, lack{"mounting is impossible: " + err.Error(), "/dev/fuse", "as root: modprobe fuse, or give the container --device /dev/fuse"})
	}
	if os.Geteuid() == 0 {
		return missing
	}
	if _, err := exec.LookPath("fusermount3"); err != nil {
		if _, err := exec.LookPath("fusermount"); err != nil {
			missing = append(missing, lack{"mounting is impossible: fusermount3 is not installed", "PATH", "apt-get install fuse3"})
		}
	}
	return missing
}
