package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// grace is how long a stopped git gets to remove its lock files.
const grace = 3 * time.Second

// maxOutput bounds what is kept of git's output, in bytes.
const maxOutput = 256 << 20

// A Command is one call of git.
type Command struct {
	Args   []string
	Stdin  io.Reader // nil: empty
	Stdout io.Writer // nil: returned by Do
	Stderr io.Writer // gets git's stderr as it comes, besides the error; nil: nobody
	Env    []string  // added to the environment of git; NAME alone takes the variable away

	// Inherit are open files that git inherits from number 3 on, and holds open
	// until it and all its children have ended. Not on Windows.
	Inherit []*os.File

	// Run runs git, as cmd.Run does, and ends it with ctx. nil: as a child of this
	// program, which a git that is not told to end outlives. Its error says how git
	// ended by the methods Exited and ExitCode of an [*exec.ExitError].
	Run func(ctx context.Context, cmd *exec.Cmd) error

	// Terminal lets git ask for passwords on the terminal: it then stays in the
	// process group of this program. Else git gets a group of its own, which is
	// ended as a whole when the context is.
	Terminal bool
}

// Run calls git and returns what it wrote to stdout, also beside an error. Errors
// are [*Error].
func (g *Git) Run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return g.Do(ctx, Command{Args: args, Stdin: stdin})
}

// Do calls git, like [Git.Run].
func (g *Git) Do(ctx context.Context, c Command) ([]byte, error) {
	cmd, stderr := g.prepare(ctx, c)
	var out bytes.Buffer
	if c.Stdout == nil {
		cmd.Stdout = &limitedWriter{w: &out, left: maxOutput}
	}
	var err error
	if c.Run != nil {
		err = c.Run(ctx, cmd)
	} else {
		err = cmd.Run()
	}
	return out.Bytes(), wrap(ctx, c.Args, stderr, err)
}

// A Process is a git that runs.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader

	cmd    *exec.Cmd
	ctx    context.Context
	args   []string
	stderr *tail
}

// Start starts git for a conversation. Close Stdin and read Stdout to its end
// before calling [Process.Wait].
func (g *Git) Start(ctx context.Context, args ...string) (*Process, error) {
	cmd, stderr := g.prepare(ctx, Command{Args: args})
	p := &Process{cmd: cmd, ctx: ctx, args: args, stderr: stderr}
	var err error
	if p.Stdin, err = cmd.StdinPipe(); err != nil {
		return nil, wrap(ctx, args, stderr, err)
	}
	if p.Stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, wrap(ctx, args, stderr, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, wrap(ctx, args, stderr, err)
	}
	return p, nil
}

// Wait waits for the end of git. The error is an [*Error].
func (p *Process) Wait() error { return wrap(p.ctx, p.args, p.stderr, p.cmd.Wait()) }

func (g *Git) prepare(ctx context.Context, c Command) (*exec.Cmd, *tail) {
	cmd := exec.CommandContext(ctx, g.binary, c.Args...)
	cmd.Dir = g.dir
	if g.GitDir != "" && !isDir(cmd.Dir) {
		cmd.Dir = g.GitDir // the caller's directory was removed; ours never is
	}
	cmd.Env = g.env
	if len(c.Env) > 0 {
		cmd.Env = override(g.env, c.Env)
	}
	stderr := &tail{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, io.Writer(stderr)
	if c.Stderr != nil {
		cmd.Stderr = io.MultiWriter(stderr, c.Stderr)
	}
	cmd.ExtraFiles = c.Inherit
	isolate(cmd, !c.Terminal)
	cmd.WaitDelay = grace
	return cmd, stderr
}

// override adds NAME=VALUE to an environment, and takes NAME away.
func override(env, changes []string) []string {
	names := make([]string, len(changes))
	var added []string
	for i, change := range changes {
		name, _, value := strings.Cut(change, "=")
		names[i] = name
		if value {
			added = append(added, change)
		}
	}
	return append(without(env, names...), added...)
}

func wrap(ctx context.Context, args []string, stderr *tail, err error) error {
	if err == nil {
		return nil
	}
	failed := &Error{Args: args, Code: -1, Stderr: stderr.text()}
	var exit interface {
		error
		Exited() bool
		ExitCode() int
	}
	switch {
	case ctx.Err() != nil:
		failed.Err = context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		failed.Code = exit.ExitCode()
	default:
		failed.Err = err
	}
	return failed
}
