package localshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// RunJob runs a command to its end, as cmd.Run does, and ends it with ctx. It is
// supervised like a [Program], so that nothing that it started outlives it or this
// program, but in no namespace: it may be one that looks whose the user's files are,
// as ssh does. An exit code other than 0 is an [*ExitError].
func RunJob(ctx context.Context, cmd *exec.Cmd) error {
	if err := errors.Join(cmd.Err, ctx.Err()); err != nil {
		return err
	}
	p, why, err := command{Program: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Environ(), Talks: true}.talk()
	if err != nil {
		return err
	}
	if !why.Started {
		return errors.New(why.Error)
	}
	defer p.Kill()
	go func() {
		if cmd.Stdin != nil {
			io.Copy(p.Stdin, cmd.Stdin) // it may end without reading all
		}
		p.Stdin.Close()
	}()
	if err := p.relay(ctx, cmd.Stdout, cmd.Stderr); err != nil {
		return fmt.Errorf("reading the output of %q: %w", cmd.Path, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if code := p.ExitCode(); code != 0 {
		return &ExitError{code}
	}
	return nil
}

// An ExitError is a program's exit code other than 0.
type ExitError struct{ code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// Exited reports that it was no signal that ended the program.
func (e *ExitError) Exited() bool { return e.code < 128 }

// ExitCode is the exit code, 128+N after signal N.
func (e *ExitError) ExitCode() int { return e.code }

// relay gives on what a program writes until it ends, or ctx does, which ends it. nil
// takes nothing.
func (p *Program) relay(ctx context.Context, stdout, stderr io.Writer) error {
	var reading sync.WaitGroup
	var failed [2]error
	for i, from := range []*os.File{p.Stdout, p.Stderr} {
		to := []io.Writer{stdout, stderr}[i]
		if to == nil {
			to = io.Discard
		}
		reading.Go(func() { _, failed[i] = io.Copy(to, from) })
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.stop()
	}
	// What holds the pipes still is no child of the program's.
	p.Stdout.SetReadDeadline(time.Now().Add(killGrace))
	p.Stderr.SetReadDeadline(time.Now().Add(killGrace))
	reading.Wait()
	for i, err := range failed {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			failed[i] = nil
		}
	}
	return errors.Join(failed[:]...)
}
