//go:build !linux

package localshell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

const namespaces = false

// Supervise returns at once: commands are supervised on Linux only.
func Supervise() (code int, supervised bool) { return 0, false }

func canConfine() bool { return false }

// A process is a command.
type process struct {
	cmd    *exec.Cmd
	output *os.File
	exit   int
}

// start starts a command in a process group of its own.
func (c command) start() (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a command: %w", err)
	}
	cmd := &exec.Cmd{Path: c.Program, Args: c.Args, Env: c.Env, Dir: c.Dir, Stdout: w, Stderr: w}
	group(cmd)
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("starting a command: %w", err)
	}
	return &process{cmd: cmd, output: r}, nil
}

// wait waits for the command, and kills what is left of its group.
func (p *process) wait() error {
	err := p.cmd.Wait()
	p.exit = exitCode(err)
	killGroup(p.cmd)
	return err
}

// kill ends the command with its group, and waits for that.
func (p *process) kill(ended <-chan error) {
	killGroup(p.cmd)
	<-ended
}

func (p *process) report() report { return report{Exit: p.exit} }

// exitCode is how a command ended.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
