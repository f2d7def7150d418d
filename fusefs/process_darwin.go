package fusefs

import (
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/sessions"
)

func callerOf(process uint32) sessions.Caller {
	group, err := unix.Getpgid(int(process))
	if process == 0 || err != nil {
		return sessions.Caller{Process: uint64(process)}
	}
	return sessions.Caller{Process: uint64(process), Group: uint64(group)}
}
