package process

import (
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// namespaces reports whether the system has PID namespaces.
const namespaces = true

// supervisorName is the only argument of this program when it runs as a supervisor.
const supervisorName = "git-domarkx-supervise"

// The file descriptors of a supervisor, besides the standard ones.
const (
	commandFD  = 3 // reads the encoded command
	lifelineFD = 4 // reaches its end when this program dies
	reportFD   = 5 // writes reports as JSON
)

// write passes a command to another process of this program. It does not use JSON,
// since paths and arguments may not be UTF-8.
func (c command) write(to *os.File) error {
	return errors.Join(gob.NewEncoder(to).Encode(c), to.Close())
}

// givenCommand reads the command that was passed to this process.
func givenCommand() (c command, err error) {
	input := os.NewFile(commandFD, "command")
	defer input.Close()
	err = gob.NewDecoder(input).Decode(&c)
	return c, err
}

// A process is a supervisor with its command.
type process struct {
	cmd       *exec.Cmd
	namespace bool
	lifeline  *os.File
	reports   *os.File
	decoder   *json.Decoder // of the reports
	heir      *heir         // nil in a namespace
}

// begin starts a supervisor with the standard files of its command. A nil in stands for /dev/null.
func (c *command) begin(in, out, errs *os.File) (*process, error) {
	if c.Confined {
		c.Sockets, c.SocketDirs, c.Hidden = resolve(c.Sockets), c.socketDirectories(), resolve(c.Hidden)
	}
	var files pipes
	commandR, commandW := files.open()
	lifelineR, lifeline := files.open()
	reports, reportW := files.open()
	err := files.err
	var left *heir
	if err == nil && !c.Namespace {
		left, err = newHeir()
	}
	if err != nil {
		files.close()
		return nil, err
	}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{supervisorName}, Env: []string{}, Dir: "/", Stdout: out, Stderr: errs}
	if in != nil {
		cmd.Stdin = in
	}
	cmd.ExtraFiles = []*os.File{commandR, lifelineR, reportW}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if c.Namespace {
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWPID | unix.CLONE_NEWNS
		if c.Confined {
			cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWIPC // the kernel removes what the command leaves there
		}
		if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
			cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
			cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // to mount; execve(2) would drop it, since the user stays the same
		}
	}
	if err := cmd.Start(); err != nil {
		files.close()
		return nil, err
	}
	for _, theirs := range cmd.ExtraFiles {
		theirs.Close()
	}
	spec := *c
	go func() { _ = spec.write(commandW) }() // fails if the supervisor has ended, which its reports show
	return &process{cmd: cmd, namespace: c.Namespace, lifeline: lifeline, heir: left,
		reports: reports, decoder: json.NewDecoder(io.LimitReader(reports, maxReport))}, nil
}

// wait waits for the supervisor, kills its descendants if it was killed itself, and returns its last report.
func (p *process) wait() report {
	_ = p.cmd.Wait() // the report has the exit code
	p.lifeline.Close()
	if p.heir != nil && p.cmd.ProcessState != nil && !p.cmd.ProcessState.Exited() {
		p.heir.killAll()
	}
	defer p.reports.Close()
	return p.report()
}

// kill kills the supervisor with all its descendants and waits for their end.
func (p *process) kill(ended <-chan struct{}) {
	if p.namespace {
		_ = p.cmd.Process.Kill() // the kernel kills the namespace with its first process
		<-ended
		return
	}
	p.lifeline.Close()
	timer := time.NewTimer(killGrace)
	defer timer.Stop()
	again := time.NewTicker(killGrace / 50)
	defer again.Stop()
	for {
		_ = p.cmd.Process.Signal(unix.SIGCONT) // in case the command stopped it
		select {
		case <-ended:
			return
		case <-again.C:
		case <-timer.C:
			all := relations()
			signalAll(unix.SIGKILL, below(p.cmd.Process.Pid, childrenOf(all)), all)
			_ = p.cmd.Process.Kill()
			<-ended
			return
		}
	}
}

// maxReport bounds the reports of a supervisor, in bytes.
const maxReport = 1 << 20

// report waits for the next report.
func (p *process) report() report {
	var r report
	if p.decoder.Decode(&r) != nil {
		r = report{Error: "the process that supervises the command was killed, by the command or somebody else; all processes that it started were killed, too"}
	}
	return r
}
