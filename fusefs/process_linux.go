package fusefs

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/sessions"
)

// callerOf returns the process of a thread and its group. A process that is not
// there any more is nobody.
//
// The kernel asks for a flush in the middle of execve(2), when it closes the files
// that were open in the parent, and waits for the answer with a lock held that reading
// /proc/PID/stat takes too (as Linux 6.18 does): whoever answers must not read it.
func callerOf(thread uint32) sessions.Caller {
	if thread == 0 {
		return sessions.Caller{}
	}
	process := uint64(thread)
	fd, err := unix.PidfdOpen(int(process), 0)
	if err != nil { // only the first thread of a process has one
		status, ok := readProc("/proc/" + strconv.FormatUint(process, 10) + "/status")
		if !ok {
			return sessions.Caller{}
		}
		process = statusNumber(status, "Tgid:")
		fd, err = unix.PidfdOpen(int(process), 0)
	}
	var unique uint64
	if err == nil {
		defer unix.Close(fd)
		var info unix.Stat_t
		if unix.Fstat(fd, &info) == nil {
			unique = info.Ino // since Linux 6.9 of this process alone, as long as the machine runs
		}
	}
	group, err := unix.Getpgid(int(process))
	if err != nil {
		return sessions.Caller{}
	}
	return sessions.Caller{Process: process<<40 ^ unique, Group: uint64(group)}
}

// readProc reads the beginning of a file of proc(5), in as few system calls as it
// takes: it is done at every open.
func readProc(path string) ([]byte, bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	data := make([]byte, 2048)
	n, err := unix.Read(fd, data)
	return data[:max(n, 0)], err == nil && n > 0
}

// statusNumber returns a number of /proc/PID/status, 0 when it is not there.
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
