package localshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/directory"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// A Sandbox runs programs in the folder of another plugin's resource, supervised,
// confined and with the environment of a command of local_shell.
type Sandbox struct{ shell *shell }

// NewSandbox returns the sandbox of a folder. kind is the type of the resource, for
// messages. The program's main must call [Supervise] first.
func NewSandbox(f *directory.Resource, env domarkx.Env, kind string) *Sandbox {
	return &Sandbox{newShell(f, env, New(), kind)}
}

// Run runs a program with arguments (its name among them) in dir, absolute, and
// gives what it writes to stdout and stderr, each by a goroutine of its own. When it
// returns, all that the program started is dead. Time that ran out, the deadline of
// ctx, is no error but stands in the status.
func (s *Sandbox) Run(ctx context.Context, dir, program string, args []string, stdout, stderr io.Writer) (toolresult.Status, error) {
	if err := ctx.Err(); err != nil {
		return toolresult.Status{}, err
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return toolresult.Status{}, err
	}
	temporary, err := s.shell.temporary()
	if err != nil {
		return toolresult.Status{}, err
	}
	defer s.shell.forget(temporary)
	env := slices.DeleteFunc(s.shell.environment(temporary), func(e string) bool { return e == "PWD="+s.shell.Path() })
	p, err := startTalking(command{Program: program, Args: args, Dir: dir, Env: append(env, "PWD="+dir), Talks: true,
		Writable: []string{s.shell.Path(), temporary}, Sealed: s.shell.sealed(), Confined: s.shell.confined}, domarkx.CodeFailed)
	if err != nil {
		return toolresult.Status{}, err
	}
	if p.unsealed {
		s.shell.warnUnsealed()
	}
	defer p.Kill()
	p.Stdin.Close() // empty, as a command's
	if err := p.relay(ctx, stdout, stderr); err != nil {
		return toolresult.Status{}, fmt.Errorf("reading the output of %q: %w", program, err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return toolresult.Status{TimedOut: true, ExitCode: -1}, nil
	}
	return toolresult.Status{ExitCode: p.ExitCode()}, ctx.Err()
}

// TearDown removes what a killed process may have left.
func (s *Sandbox) TearDown() { s.shell.sweep() }
