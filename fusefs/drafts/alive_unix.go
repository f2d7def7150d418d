//go:build unix

package drafts

import (
	"errors"

	"golang.org/x/sys/unix"
)

// alive reports whether a process may run. Number 0 is an unknown process, which may run.
func alive(pid int) bool {
	return pid == 0 || !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}
