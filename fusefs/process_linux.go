package fusefs

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// callerOf returns the process of a thread and its process group, or the zero Caller if
// the process has ended.
//
// It must not read /proc/PID/stat. In execve(2), the kernel closes files of the process
// and sends this server a flush for each. It waits for the answer while it holds a lock
// that reading /proc/PID/stat needs as well (as of Linux 6.18).
func callerOf(thread uint32) basis.Caller {
	if thread == 0 {
		return basis.Caller{}
	}
	process := uint64(thread)
	fd, err := unix.PidfdOpen(int(process), 0)
	if err != nil { // only the main thread of a process has one
		status, _ := os.ReadFile("/proc/" + strconv.FormatUint(process, 10) + "/status")
		if process = statusNumber(status, "Tgid:"); process == 0 {
			return basis.Caller{} // it has ended
		}
		fd, err = unix.PidfdOpen(int(process), 0)
	}
	var unique uint64
	if err == nil {
		defer unix.Close(fd)
		var info unix.Stat_t
		if unix.Fstat(fd, &info) == nil {
			unique = info.Ino // unique until the next boot since Linux 6.9
		}
	}
	group, err := unix.Getpgid(int(process))
	if err != nil {
		return basis.Caller{}
	}
	return basis.Caller{Process: process<<40 ^ unique, Group: uint64(group)}
}

// statusNumber returns a number of /proc/PID/status, or 0 if it is missing.
func statusNumber(status []byte, key string) uint64 {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(rest)), 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}
