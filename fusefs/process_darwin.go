package fusefs

import (
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

func callerOf(process uint32) basis.Caller {
	group, err := unix.Getpgid(int(process))
	if process == 0 || err != nil {
		return basis.Caller{Process: uint64(process)}
	}
	return basis.Caller{Process: uint64(process), Group: uint64(group)}
}
