//go:build unix

package drafts

import (
	"errors"

	"golang.org/x/sys/unix"
)

// alive reports whether a process runs, as far as this one can tell. The number 0 stands
// for an unknown process, which may run.
func alive(pid int) bool {
	return pid == 0 || !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}
