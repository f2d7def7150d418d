package agent

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processes starts children and reaps them, and all orphans of the container,
// which are children of process 1.
type processes struct {
	mu       sync.Mutex // held from fork to registration, so that no child is reaped before it is known
	waiting  map[int]chan syscall.WaitStatus
	detached []*started
}

// started is what begins a detached command once more.
type started struct{ begin func() error }

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

// start starts a program; its status comes on the channel.
func (p *processes) start(program string, args []string, attr *syscall.ProcAttr) (<-chan syscall.WaitStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err := syscall.ForkExec(program, args, attr)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", program, err)
	}
	// Where memory is short the command is to go and not the agent, with which the
	// container would (proc(5)). Some sandboxes have no such file.
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0)
	exit := make(chan syscall.WaitStatus, 1)
	p.waiting[pid] = exit
	return exit, nil
}

// signalAll signals every process of the container but this one (kill(2), -1), and
// reports whether there were any.
func (p *processes) signalAll(sig syscall.Signal) (bool, error) {
	if os.Getpid() != 1 {
		return false, errors.New("signal all processes: not process 1 of a container")
	}
	p.reap() // the dead count too
	err := unix.Kill(-1, sig)
	if errors.Is(err, unix.ESRCH) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("signal all processes: %w", err)
	}
	return true, nil
}

// killTime is how long the killed are waited for.
const killTime = 3 * time.Second

// killAll kills every process of the container but this one, and begins the
// detached commands again.
func (p *processes) killAll() {
	// One call reaches all that are there, also what they fork meanwhile: the kernel
	// lets no fork finish in a process that has a pending signal (copy_process). They
	// are gone some time later; one that hangs in the kernel is not waited for.
	for deadline := time.Now().Add(killTime); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if left, err := p.signalAll(unix.SIGKILL); !left || err != nil {
			break
		}
	}
	p.mu.Lock()
	detached := p.detached
	p.mu.Unlock()
	for _, d := range detached {
		_ = d.begin() // it began before; that it does not now is for its users to notice
	}
}
