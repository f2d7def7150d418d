package process

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/domarkx/domarkx/plugins/limit"
	"golang.org/x/sys/unix"
)

// Looking at all processes takes at most one part in lookShare of a processor, and happens every lookEvery at most.
const (
	lookEvery = 20 * time.Millisecond
	lookShare = 20
)

// limit kills the command with everything that it started once it is over its limits. No cgroup is needed, which only some
// users may make, and it holds for root.
func (s *supervisor) limit() {
	if s.command.Processes == 0 && s.command.Memory == 0 {
		return
	}
	// Thousands of processes may wait for a processor. Only root may do this; forks of others fail before (limitForks).
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20)
	for {
		began := threadTime()
		if over := s.command.over(); over != "" {
			s.over.Store(&over)
			break
		}
		// Waiting for a processor, or for the memory of a busy process, does not delay the next look.
		time.Sleep(max(lookEvery, lookShare*(threadTime()-began)))
	}
	hurry()
	for { // until the supervisor ends
		if s.command.Namespace {
			_ = unix.Kill(-1, unix.SIGKILL)
		} else {
			killBelow()
		}
		time.Sleep(lookEvery)
	}
}

// hurry gives all threads of this process the highest priority, where that is allowed: those that reap what was killed must keep up
// with thousands of processes that fork. Nothing is started any more that would inherit it.
func hurry() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, -20)
		}
	}
}

// threadTime returns the processor time that this thread has used.
func threadTime() time.Duration {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// killBelow kills the descendants of this process that it finds. It stops all of them first, since they may
// fork faster than they are killed.
func killBelow() {
	for _, sig := range []unix.Signal{unix.SIGSTOP, unix.SIGKILL} {
		all := relations()
		signalAll(sig, below(os.Getpid(), childrenOf(all)), all)
	}
}

// over returns the limit that the command is over, "" for none.
func (c command) over() string {
	self := os.Getpid()
	all := relations()
	var processes []int
	if c.Namespace {
		for pid := range all {
			if pid != self {
				processes = append(processes, pid)
			}
		}
	} else {
		processes = below(self, childrenOf(all))
	}
	var threads, memory int64
	for _, pid := range processes {
		threads += all[pid].threads
		memory += all[pid].pages * int64(os.Getpagesize())
	}
	if c.Processes > 0 && threads > c.Processes {
		return limit.Processes.Over(c.Processes)
	}
	var files int64
	var fs unix.Statfs_t
	if c.OwnMemory && unix.Statfs(sharedMemory, &fs) == nil {
		files = int64(fs.Blocks-fs.Bfree) * fs.Bsize
	}
	if c.Memory == 0 || memory+files <= c.Memory {
		return ""
	}
	// Memory that processes share counted for each of them. What each of them has of it takes longer to find out.
	memory = 0
	for _, pid := range processes {
		memory += share(pid)
	}
	if memory+files <= c.Memory {
		return ""
	}
	return limit.Memory.Over(c.Memory)
}

// share returns the memory of a process with its part of shared pages (proc_pid_smaps(5)), or with all of them where its part is
// hidden. It is 0 for a process that has ended.
func share(pid int) int64 {
	dir := "/proc/" + strconv.Itoa(pid)
	data, _ := os.ReadFile(dir + "/smaps_rollup")
	for line := range bytes.Lines(data) {
		if size, ok := bytes.CutPrefix(line, []byte("Pss:")); ok {
			return number(size, 0) << 10
		}
	}
	data, _ = os.ReadFile(dir + "/statm")
	return number(data, 1) * int64(os.Getpagesize())
}

// number returns a field of a text as a number, 0 if it is none.
func number(text []byte, field int) int64 {
	if fields := bytes.Fields(text); len(fields) > field {
		n, _ := strconv.ParseInt(string(fields[field]), 10, 64)
		return n
	}
	return 0
}

// limitForks makes forks fail in the command that is far over its limit, in case the supervisor does not get a processor to
// find that out. In a user namespace, the kernel counts only the processes in it, since Linux 5.14; before, it counted all
// of the user's, for which there is room. Root is exempt (setrlimit(2), RLIMIT_NPROC).
func (c command) limitForks(pid int) {
	var info unix.Sysinfo_t
	if c.Processes == 0 || !c.Namespace || os.Geteuid() == 0 || unix.Sysinfo(&info) != nil {
		return
	}
	most := uint64(c.Processes) + uint64(info.Procs)
	var now unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_NPROC, nil, &now) == nil && now.Max > most {
		_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: min(now.Cur, most), Max: most}, nil)
	}
}
