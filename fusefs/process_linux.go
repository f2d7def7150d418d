package fusefs

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs/overlay"
)

// callerOf returns the process of a thread and its group. A process that is not
// there any more is nobody.
func callerOf(thread uint32) overlay.Caller {
	if thread == 0 {
		return overlay.Caller{}
	}
	status, ok := readProc("/proc/" + strconv.FormatUint(uint64(thread), 10) + "/status")
	if !ok {
		return overlay.Caller{}
	}
	process := statusNumber(status, "Tgid:")
	stat, ok := readProc("/proc/" + strconv.FormatUint(process, 10) + "/stat")
	if !ok {
		return overlay.Caller{}
	}
	group, start := parseStat(stat)
	return overlay.Caller{Process: process<<40 ^ start, Group: group}
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

// parseStat returns the process group and the start time of /proc/PID/stat (proc(5),
// fields 5 and 22); the name in field 2 may contain anything.
func parseStat(stat []byte) (group, start uint64) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state = 3 // the first field after the name
	number := func(field int) uint64 {
		if field-state >= len(fields) {
			return 0
		}
		n, err := strconv.ParseUint(string(fields[field-state]), 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return number(5), number(22)
}
