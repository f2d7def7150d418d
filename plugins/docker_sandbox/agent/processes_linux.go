package agent

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processes starts children and reaps them, together with the orphans of the container, which become children of process 1.
type processes struct {
	mu       sync.Mutex // held from fork until the child is registered, so that it is not reaped earlier
	waiting  map[int]chan syscall.WaitStatus
	detached []func() error // begin detached commands again
}

func newProcesses() (*processes, func()) {
	p := &processes{waiting: map[int]chan syscall.WaitStatus{}}
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	go func() {
		for range children {
			p.reap()
		}
	}()
	return p, func() {
		signal.Stop(children)
		close(children)
	}
}

func (p *processes) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if exit := p.waiting[pid]; exit != nil {
			delete(p.waiting, pid)
			exit <- status
		}
	}
}

// start starts a program. The channel receives its exit status.
func (p *processes) start(program string, args []string, attr *syscall.ProcAttr) (<-chan syscall.WaitStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err := syscall.ForkExec(program, args, attr)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", program, err)
	}
	// When memory is short, the kernel should kill the command and not the agent, which would
	// end the container (proc(5)). Some sandboxes lack this file.
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0)
	exit := make(chan syscall.WaitStatus, 1)
	p.waiting[pid] = exit
	return exit, nil
}

// signalAll signals all processes of the container except this one (kill(2) with pid -1) and reports whether there were any.
func (p *processes) signalAll(sig syscall.Signal) (bool, error) {
	if os.Getpid() != 1 {
		return false, errors.New("signal all processes: not process 1 of a container")
	}
	p.reap() // zombies count as processes
	err := unix.Kill(-1, sig)
	if errors.Is(err, unix.ESRCH) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("signal all processes: %w", err)
	}
	return true, nil
}

// killTime limits how long killAll waits for killed processes to disappear.
const killTime = 3 * time.Second

// killAll kills all processes of the container except this one, and restarts the detached commands.
func (p *processes) killAll() {
	// One call reaches all processes and their forks, because the kernel does not complete a
	// fork in a process with a pending signal (copy_process). They disappear a little later;
	// a process that hangs in the kernel is not waited for beyond the deadline.
	for deadline := time.Now().Add(killTime); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if left, err := p.signalAll(unix.SIGKILL); !left || err != nil {
			break
		}
	}
	p.mu.Lock()
	detached := p.detached
	p.mu.Unlock()
	for _, begin := range detached {
		_ = begin() // it started before; its users notice if it does not start again
	}
}

// events counts how often limits of the container were reached.
type events struct{ processes, memory int64 }

// readEvents reads the counters of the container's cgroup, of version 2 or 1; they are 0 if it cannot see them.
func readEvents() events {
	return events{
		processes: counter("max", "/sys/fs/cgroup/pids.events", "/sys/fs/cgroup/pids/pids.events"),
		memory:    counter("oom_kill", "/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"),
	}
}

// counter reads a counter from the first of some files that exists.
func counter(name string, paths ...string) int64 {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if text, ok := strings.CutPrefix(line, name+" "); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
				return n
			}
		}
	}
	return 0
}

// reached returns the limits that were reached since before. If no process can be forked any more, it kills all of them.
func (s *server) reached(before events) Reached {
	now := readEvents()
	r := Reached{Processes: now.processes > before.processes, Memory: now.memory > before.memory}
	if r.Processes {
		s.processes.killAll()
	}
	return r
}

// spareThreads is the number of threads that the agent has before commands run: when they use up the processes of the container,
// the agent could not get any, and a Go program ends then.
const spareThreads = 32

// holdThreads makes the runtime start threads, which it keeps.
func holdThreads() {
	var started, all sync.WaitGroup
	read, write, err := os.Pipe()
	if err != nil {
		return
	}
	defer read.Close()
	fd := int(read.Fd()) // reads block from here on
	started.Add(spareThreads)
	for range spareThreads {
		all.Go(func() {
			started.Done()
			_, _ = unix.Read(fd, make([]byte, 1))
		})
	}
	started.Wait()
	time.Sleep(time.Millisecond) // until most of them read
	write.Close()
	all.Wait()
}
