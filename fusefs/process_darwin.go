package fusefs

import (
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/overlay"
)

// callerOf returns a process and its group.
func callerOf(process uint32) overlay.Caller {
	group, err := unix.Getpgid(int(process))
	if process == 0 || err != nil {
		return overlay.Caller{Process: uint64(process)}
	}
	return overlay.Caller{Process: uint64(process), Group: uint64(group)}
}
