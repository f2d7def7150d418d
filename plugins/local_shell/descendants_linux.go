package localshell

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A relation is where a process stands among others.
type relation struct{ parent, session int }

// relations returns all processes that can be seen (proc(5)).
func relations() map[int]relation {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	all := map[int]relation{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// The name of the program stands in parentheses and may hold any.
		_, rest, ok := strings.Cut(string(data[max(0, strings.LastIndexByte(string(data), ')')):]), " ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 4 {
			continue
		}
		parent, perr := strconv.Atoi(fields[1])
		session, serr := strconv.Atoi(fields[3])
		if perr == nil && serr == nil {
			all[pid] = relation{parent, session}
		}
	}
	return all
}

// descendants returns the processes below one.
func descendants(top int) []int {
	children := map[int][]int{}
	for pid, r := range relations() {
		children[r.parent] = append(children[r.parent], pid)
	}
	var found []int
	for todo := []int{top}; len(todo) > 0; todo = todo[1:] {
		found = append(found, children[todo[0]]...)
		todo = append(todo, children[todo[0]]...)
	}
	return found
}

// An heir gets the processes of a supervisor without a namespace that its command
// killed.
type heir struct{ before map[int]relation }

// newHeir makes this process the one that gets them, before the supervisor starts.
func newHeir() (*heir, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	return &heir{relations()}, nil
}

// killAll kills what came to this process since then. What this program starts itself is
// in its session, or a supervisor.
func (h *heir) killAll() {
	self := os.Getpid()
	session, err := unix.Getsid(0)
	if err != nil {
		return
	}
	for end := time.Now().Add(killGrace); time.Now().Before(end); time.Sleep(time.Millisecond) {
		left := false
		for pid, r := range relations() {
			if _, known := h.before[pid]; known || r.parent != self || r.session == session || isSupervisor(pid) {
				continue
			}
			left = true
			for _, below := range descendants(pid) {
				unix.Kill(below, unix.SIGKILL)
			}
			unix.Kill(pid, unix.SIGKILL)
			unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		if !left {
			return
		}
	}
}

// isSupervisor reports whether a process is another supervisor of this program's.
func isSupervisor(pid int) bool {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && string(name) == supervisorName+"\x00"
}
