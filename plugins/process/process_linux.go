package process

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
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

// encode encodes a command for another process of this program. It does not use JSON,
// since paths and arguments may not be UTF-8.
func (c command) encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(c)
	return b.Bytes(), err
}

// givenCommand reads the command that was passed to this process.
func givenCommand() (command, error) {
	input := os.NewFile(commandFD, "command")
	defer input.Close()
	var c command
	data, err := io.ReadAll(input)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&c)
	}
	return c, err
}

// A process is a supervisor with its command.
type process struct {
	cmd       *exec.Cmd
	namespace bool
	output    *os.File
	input     *os.File // nil unless the command has pipes
	errors    *os.File // likewise
	lifeline  *os.File
	reports   *os.File
	decoder   *json.Decoder // of the reports
	heir      *heir         // nil in a namespace
}

func (c command) start() (*process, error) {
	if c.Confined {
		c.Sockets, c.SocketDirs, c.Hidden = resolve(c.Sockets), c.socketDirectories(), resolve(c.Hidden)
	}
	spec, err := c.encode()
	if err != nil {
		return nil, err
	}
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w
	}
	output, outputW := pipe()
	commandR, commandW := pipe()
	lifelineR, lifeline := pipe()
	reports, reportW := pipe()
	var inputR, input, errors *os.File
	errorW := outputW
	if c.Pipes {
		inputR, input = pipe()
		errors, errorW = pipe()
	}
	var left *heir
	if err == nil && !c.Namespace {
		left, err = newHeir()
	}
	if err != nil {
		closeAll(files)
		return nil, fmt.Errorf("starting a command: %w", err)
	}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{supervisorName}, Env: []string{}, Dir: "/"}
	cmd.Stdout, cmd.Stderr = outputW, errorW
	theirs := []*os.File{outputW, commandR, lifelineR, reportW}
	if c.Pipes {
		cmd.Stdin = inputR
		theirs = append(theirs, inputR, errorW)
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
		closeAll(files)
		if c.Namespace {
			return nil, fmt.Errorf("%w: %w", errNoNamespace, err)
		}
		return nil, fmt.Errorf("starting a command: %w", err)
	}
	closeAll(theirs)
	go func() {
		_, _ = commandW.Write(spec) // fails if the supervisor has ended, which its reports show
		commandW.Close()
	}()
	return &process{
		cmd: cmd, namespace: c.Namespace, output: output, input: input, errors: errors, lifeline: lifeline, reports: reports,
		decoder: json.NewDecoder(io.LimitReader(reports, maxReport)), heir: left,
	}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// wait waits for the supervisor, and kills its descendants if it was killed itself.
func (p *process) wait() error {
	err := p.cmd.Wait()
	p.lifeline.Close()
	if p.heir != nil && p.cmd.ProcessState != nil && !p.cmd.ProcessState.Exited() {
		p.heir.killAll()
	}
	return err
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

// close closes the files that stay open after the end of a command without pipes.
func (p *process) close() {
	p.output.Close()
	p.reports.Close()
}

// maxReport bounds the reports of a supervisor, in bytes.
const maxReport = 1 << 20

// started waits for the next report.
func (p *process) started() report {
	var r report
	if p.decoder.Decode(&r) != nil {
		r = report{Error: "the process that supervises the command was killed, by the command or somebody else; all processes that it started were killed, too"}
	}
	return r
}

// report returns the supervisor's last report.
func (p *process) report() report {
	defer p.reports.Close()
	return p.started()
}
