package main

import (
	"context"
	"errors"
	"io"
	"os/exec"

	"github.com/domarkx/domarkx/plugins/permit"
)

// foreground returns a command that runs a program of the user's in the foreground, such as an agent, an editor or a pager, with
// the input and the messages of this program. Such programs look whether their streams are the terminal, so they must get the
// files themselves and no pipes. All of them are made here; TestForegroundPrograms finds others.
//
// What the program prints goes to stdout: inv.out if that is the result of this command, inv.err if it
// is not, and another writer to read it.
func (inv *invocation) foreground(ctx context.Context, stdout io.Writer, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.in, stdout, inv.err
	if stdout == inv.out {
		_ = inv.out.Flush() // what this program printed comes first; the error returns at the end
		if inv.out.file != nil && inv.out.pager == nil {
			cmd.Stdout = inv.out.file
		}
	}
	return cmd
}

// agent returns a command that runs a program of a permit in the foreground, or by itself if stdout is nil.
func (inv *invocation) agent(ctx context.Context, p permit.Permit, stdout io.Writer, command []string) *exec.Cmd {
	var cmd *exec.Cmd
	if stdout == nil {
		cmd = inv.alone(ctx, command[0], command[1:]...)
	} else {
		cmd = inv.foreground(ctx, stdout, command[0], command[1:]...)
	}
	if program := p.What().Program; program == "" || program != command[0] {
		cmd.Err = errors.New("nothing permits that")
	}
	return cmd
}

// alone returns a command that runs a program without the streams of this one.
func (inv *invocation) alone(ctx context.Context, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, name, args...)
}

// screen returns where a program shows itself that the user works in, such as an editor: the terminal, also
// where the results of this command go to a file.
func (inv *invocation) screen() io.Writer {
	if inv.out.tty {
		return inv.out
	}
	return inv.err
}

// fed returns the input of a program that reads what this one writes. It reads keys from the terminal.
func fed(cmd *exec.Cmd) (io.WriteCloser, error) {
	cmd.Stdin = nil
	return cmd.StdinPipe()
}
