//go:build !linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

const namespaces = false

// Supervise returns at once. Only Linux has supervisors.
func Supervise() (code int, supervised bool) { return 0, false }

// CanConfine returns false.
func CanConfine() bool { return false }

// Missing returns nothing: only Linux isolates commands.
func Missing(context.Context) []Lack { return nil }

// A process is a command.
type process struct {
	cmd    *exec.Cmd
	output *os.File
	input  *os.File // nil unless the command has pipes
	errors *os.File // likewise
	exit   int
}

// start starts a command in a process group of its own.
func (c command) start() (*process, error) {
	var ours, theirs []*os.File
	var err error
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	p := &process{}
	output, outputW := pipe()
	ours, theirs = append(ours, output), append(theirs, outputW)
	cmd := &exec.Cmd{Path: c.Program, Args: c.Args, Env: c.Env, Dir: c.Dir, Stdout: outputW, Stderr: outputW}
	if c.Pipes {
		input, inputW := pipe()
		errors, errorW := pipe()
		ours, theirs = append(ours, inputW, errors), append(theirs, input, errorW)
		cmd.Stdin, cmd.Stderr = input, errorW
		p.input, p.errors = inputW, errors
	}
	p.cmd, p.output = cmd, output
	group(cmd)
	if err == nil {
		err = cmd.Start()
	}
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		for _, f := range ours {
			f.Close()
		}
		return nil, fmt.Errorf("starting a command: %w", err)
	}
	return p, nil
}

// wait waits for the command and kills the rest of its group.
func (p *process) wait() error {
	err := p.cmd.Wait()
	p.exit = exitCode(err)
	killGroup(p.cmd)
	return err
}

// kill kills the command with its group and waits for its end.
func (p *process) kill(ended <-chan struct{}) {
	killGroup(p.cmd)
	<-ended
}

// close closes the files that stay open after the end of a command without pipes.
func (p *process) close() { p.output.Close() }

func (p *process) started() report { return report{Started: true} }

func (p *process) report() report { return report{Exit: p.exit} }

// exitCode returns the exit code of a command that ended with err.
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
