//go:build unix

package drafts

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// flock locks a file until it is closed or its process dies. Where another has it
// locked, it fails at once with errLocked.
func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("%q: %w", f.Name(), errLocked)
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("locking %q: %w", f.Name(), err)
		}
	}
}

// alive reports whether a process runs, as far as this one can tell; of 0, which is
// unknown, it does.
func alive(pid int) bool {
	return pid == 0 || !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
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
