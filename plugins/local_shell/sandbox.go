package localshell

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/directory"
	"github.com/domarkx/domarkx/plugins/process"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// A Sandbox runs programs in the directory of another plugin's resource like commands of
// local_shell: supervised, confined and with the same environment.
type Sandbox struct{ shell *shell }

// NewSandbox returns the sandbox of a directory. typ is the type of the resource, for
// messages. The program's main must call [process.Supervise] first.
func NewSandbox(f *directory.Resource, env domarkx.Env, typ string) *Sandbox {
	return &Sandbox{newShell(f, env, New(), typ)}
}

// Run runs a program with args, which include its name, in dir, an absolute path. It
// writes the program's output to stdout and stderr, each from a goroutine of its own.
// When Run returns, every process that the program started is dead. A deadline of ctx
// that passed is not an error but reported in the status.
func (s *Sandbox) Run(ctx context.Context, dir, program string, args []string, stdout, stderr io.Writer) (toolresult.Status, error) {
	if err := ctx.Err(); err != nil {
		return toolresult.Status{}, err
	}
	p, forget, err := s.Start(dir, program, args)
	if err != nil {
		return toolresult.Status{}, err
	}
	defer forget()
	defer p.Kill()
	p.Stdin.Close() // commands have an empty standard input
	return p.Finish(ctx, stdout, stderr)
}

// Start starts a program like Run, for a caller that communicates with it. The caller must
// call Kill, and then forget, which removes the program's temporary directory. A resource
// runs one program at a time.
func (s *Sandbox) Start(dir, program string, args []string) (p *process.Program, forget func(), err error) {
	if program, err = filepath.Abs(program); err != nil {
		return nil, nil, err
	}
	temporary, err := s.shell.temporary()
	if err != nil {
		return nil, nil, err
	}
	c := s.shell.command(temporary)
	c.Program, c.Args, c.Dir = program, args, dir
	c.Env = append(slices.DeleteFunc(c.Env, func(e string) bool { return e == "PWD="+s.shell.Path() }), "PWD="+dir)
	if p, err = s.shell.plugin.runner.Start(c); err != nil {
		s.shell.forget(temporary)
		return nil, nil, err
	}
	s.shell.warnUnsealed(c)
	return p, func() { s.shell.forget(temporary) }, nil
}

// TearDown removes temporary files of a process that was killed.
func (s *Sandbox) TearDown() { s.shell.sweep() }
