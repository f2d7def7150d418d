package gitcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// grace is the time that a stopped git has to remove its lock files.
const grace = 3 * time.Second

// maxOutput is the largest accepted output of git, in bytes.
const maxOutput = 256 << 20

// A Command is a call of git.
type Command struct {
	Args   []string
	Stdin  io.Reader // nil for an empty stdin
	Stdout io.Writer // nil if Do returns it
	Stderr io.Writer // receives git's stderr as it is written; may be nil
	Env    []string  // added to the environment of git; NAME without "=" removes the variable

	// Inherit are open files that git inherits as descriptors from 3 on, and keeps open until
	// it and its children have ended. Not supported on Windows.
	Inherit []*os.File

	// Run runs git like cmd.Run, and stops it when ctx ends. If nil, git is a child of this
	// program and may outlive it. Like [*exec.ExitError], its error reports the exit code with
	// the methods Exited and ExitCode.
	Run func(ctx context.Context, cmd *exec.Cmd) error

	// Terminal lets git ask for passwords on the terminal, for which it stays in the process
	// group of this program. Otherwise git gets a process group of its own, which is
	// stopped as a whole when the context ends.
	Terminal bool
}

// Run runs git and returns its stdout, also together with an error. Errors are [*Error].
func (g *Git) Run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return g.Do(ctx, Command{Args: args, Stdin: stdin})
}

// Do runs git like [Git.Run].
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

// Lines runs git like [Git.Do], and calls visit with each line of its stdout, without the line end, while git runs. An error of
// visit ends git, and Lines returns it.
func (g *Git) Lines(ctx context.Context, c Command, visit func(line []byte) error) error {
	lines := &lineWriter{visit: visit}
	c.Stdout = lines
	_, err := g.Do(ctx, c)
	return cmp.Or(lines.err, err)
}

func (g *Git) prepare(ctx context.Context, c Command) (*exec.Cmd, *tail) {
	cmd := exec.CommandContext(ctx, g.binary, c.Args...)
	cmd.Dir = g.dir
	if g.GitDir != "" && !isDir(cmd.Dir) {
		cmd.Dir = g.GitDir // the caller's directory was removed; this one never is
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

// override applies changes to an environment: NAME=VALUE sets a variable, NAME removes it.
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

// Password returns the password that Git's credential helpers have for a URL, or "" if there is
// none (git-credential(1), fill). Only if ask is set, they may ask the user.
func (g *Git) Password(ctx context.Context, url string, ask bool) (string, error) {
	if strings.ContainsAny(url, "\n\x00") {
		return "", errors.New("git credential: the URL has a line end")
	}
	c := Command{Args: []string{"credential", "fill"}, Stdin: strings.NewReader("url=" + url + "\n\n"), Terminal: ask}
	if !ask {
		c.Args = append([]string{"-c", "credential.interactive=false"}, c.Args...)
		c.Env = []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never"}
	}
	out, err := g.Do(ctx, c)
	var failed *Error
	if errors.As(err, &failed) && failed.Code > 0 && ctx.Err() == nil {
		return "", nil // no helper has it, and nobody was asked or answered
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if password, ok := strings.CutPrefix(line, "password="); ok {
			return strings.TrimSuffix(password, "\n"), nil
		}
	}
	return "", nil
}
