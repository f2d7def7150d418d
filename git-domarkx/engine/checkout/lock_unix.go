//go:build unix

package checkout

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// lockDirectory locks a directory until the file is closed or the process ends. The lock also holds
// against processes in other containers. Its errors are those of [atomicfile.TryLock].
func lockDirectory(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.TryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
