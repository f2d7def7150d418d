package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A relation holds the parent, group and session of a process, and its use of memory.
type relation struct {
	parent, group, session int
	threads, pages         int64 // pages of resident memory
	zombie                 bool
}

// relations returns all visible processes by pid (proc(5)).
func relations() map[int]relation {
	names, _ := os.ReadDir("/proc")
	all := map[int]relation{}
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + name.Name() + "/stat")
		if err != nil {
			continue
		}
		// The program name stands in parentheses and may contain parentheses.
		_, rest, ok := strings.Cut(string(data[max(0, strings.LastIndexByte(string(data), ')')):]), " ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 22 {
			continue
		}
		parent, perr := strconv.Atoi(fields[1])
		group, gerr := strconv.Atoi(fields[2])
		session, serr := strconv.Atoi(fields[3])
		threads, terr := strconv.ParseInt(fields[17], 10, 64)
		pages, merr := strconv.ParseInt(fields[21], 10, 64)
		if errors.Join(perr, gerr, serr, terr, merr) == nil {
			all[pid] = relation{parent, group, session, threads, pages, fields[0] == "Z"}
		}
	}
	return all
}

// childrenOf returns the children of each process.
func childrenOf(all map[int]relation) map[int][]int {
	children := map[int][]int{}
	for pid, r := range all {
		children[r.parent] = append(children[r.parent], pid)
	}
	return children
}

// below returns the descendants of a process: its children, their children, and so on.
func below(top int, children map[int][]int) []int {
	var found []int
	for todo := []int{top}; len(todo) > 0; todo = todo[1:] {
		found = append(found, children[todo[0]]...)
		todo = append(todo, children[todo[0]]...)
	}
	return found
}

// signalAll sends a signal to processes that a supervisor started. A whole group gets it at once, since one process after the other
// would take longer than a fork bomb forks: a command's groups are in sessions of their own, so nothing else is in them.
func signalAll(sig unix.Signal, pids []int, all map[int]relation) {
	own, err := unix.Getsid(0)
	if err != nil {
		return
	}
	groups := map[int]bool{}
	for _, pid := range pids {
		switch r := all[pid]; {
		case r.zombie || groups[r.group]:
		case r.session == own || r.group <= 1:
			_ = unix.Kill(pid, sig)
		default:
			groups[r.group] = true
			_ = unix.Kill(-r.group, sig)
		}
	}
}

// An heir inherits the processes of a supervisor without a namespace when the command
// kills the supervisor.
type heir struct{ before map[int]relation }

// newHeir makes this process a subreaper. It is called before the supervisor starts.
func newHeir() (*heir, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	return &heir{relations()}, nil
}

// killAll kills the children that this process inherited since newHeir. The children
// that it started itself are in its session or are supervisors.
func (h *heir) killAll() {
	self := os.Getpid()
	session, err := unix.Getsid(0)
	if err != nil {
		return
	}
	for end := time.Now().Add(killGrace); time.Now().Before(end); time.Sleep(time.Millisecond) {
		left := false
		all := relations()
		children := childrenOf(all) // once: a fork bomb may have left tens of thousands
		for pid, r := range all {
			if _, known := h.before[pid]; known || r.parent != self || r.session == session || isSupervisor(pid) {
				continue
			}
			left = true
			signalAll(unix.SIGKILL, append(below(pid, children), pid), all)
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		if !left {
			return
		}
	}
}

// isSupervisor reports whether a child is a supervisor that this process started for another command. Until it executes the
// program, it has the arguments of this process.
func isSupervisor(pid int) bool {
	place := "/proc/" + strconv.Itoa(pid)
	arguments, err := os.ReadFile(place + "/cmdline")
	own, e := os.ReadFile("/proc/self/cmdline")
	if errors.Join(err, e) != nil || string(arguments) != supervisorName+"\x00" && !bytes.Equal(arguments, own) {
		return false
	}
	program, err := os.Readlink(place + "/exe")
	self, e := os.Readlink("/proc/self/exe")
	return errors.Join(err, e) != nil || program == self // with other rights it cannot be read
}
