//go:build !linux

package process

import (
	"context"
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
type process struct{ cmd *exec.Cmd }

// begin starts a command in a process group of its own. A nil in stands for an empty standard input.
func (c *command) begin(in, out, errs *os.File) (*process, error) {
	cmd := &exec.Cmd{Path: c.Program, Args: c.Args, Env: c.Env, Dir: c.Dir, Stdout: out, Stderr: errs}
	if in != nil {
		cmd.Stdin = in
	}
	group(cmd)
	return &process{cmd}, cmd.Start()
}

// wait waits for the command and kills the rest of its group.
func (p *process) wait() report {
	_ = p.cmd.Wait()
	killGroup(p.cmd)
	return report{Exit: p.cmd.ProcessState.ExitCode()}
}

// kill kills the command with its group and waits for its end.
func (p *process) kill(ended <-chan struct{}) {
	killGroup(p.cmd)
	<-ended
}

func (p *process) report() report { return report{Started: true} }
