package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Run runs a command to its end, as cmd.Run does, and kills it when ctx ends. It is
// supervised but runs in no namespace, since programs such as ssh check the owners of
// the user's files. An exit code other than 0 is an [*ExitError].
func Run(ctx context.Context, cmd *exec.Cmd) error {
	if err := errors.Join(cmd.Err, ctx.Err()); err != nil {
		return err
	}
	c := command{Command: Command{Program: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Environ()}, Pipes: true}
	p, err := c.start(ctx)
	if err == nil {
		defer p.Kill()
		go func() {
			if cmd.Stdin != nil {
				_, _ = io.Copy(p.Stdin, cmd.Stdin) // fails if the command ends without reading everything
			}
			p.Stdin.Close()
		}()
		_, err = p.Finish(ctx, cmd.Stdout, cmd.Stderr)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed, ok := errors.AsType[*domarkx.ToolError](err); ok {
		return errors.New(failed.Message)
	}
	if err == nil && p.ExitCode() != 0 {
		return &ExitError{p.ExitCode()}
	}
	return err
}

// An ExitError reports an exit code other than 0.
type ExitError struct{ code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// Exited reports whether the program exited by itself, not by a signal.
func (e *ExitError) Exited() bool { return e.code < 128 }

// ExitCode returns the exit code, 128+N after signal N.
func (e *ExitError) ExitCode() int { return e.code }
