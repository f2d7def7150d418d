//go:build unix

package drafts

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// flock locks a file until it is closed or its process dies, or fails at once.
func flock(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("locking %q: %w", f.Name(), err)
	}
	return nil
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
