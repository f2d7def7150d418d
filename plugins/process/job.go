package process

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

// Run runs a command to its end, as cmd.Run does, and kills it when ctx ends. It is
// supervised but runs in no namespace, since programs such as ssh check the owners of
// the user's files. An exit code other than 0 is an [*ExitError].
func Run(ctx context.Context, cmd *exec.Cmd) error {
	if err := errors.Join(cmd.Err, ctx.Err()); err != nil {
		return err
	}
	p, why, err := command{Command: Command{Program: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Environ()}, Pipes: true}.startProgram()
	if err != nil {
		return err
	}
	if !why.Started {
		return errors.New(why.Error)
	}
	defer p.Kill()
	go func() {
		if cmd.Stdin != nil {
			_, _ = io.Copy(p.Stdin, cmd.Stdin) // fails if the command ends without reading everything
		}
		p.Stdin.Close()
	}()
	if err := p.Relay(ctx, cmd.Stdout, cmd.Stderr); err != nil {
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

// An ExitError reports an exit code other than 0.
type ExitError struct{ code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// Exited reports whether the program exited by itself, not by a signal.
func (e *ExitError) Exited() bool { return e.code < 128 }

// ExitCode returns the exit code, 128+N after signal N.
func (e *ExitError) ExitCode() int { return e.code }

// Relay copies the program's output to stdout and stderr, each from a goroutine of its
// own, until the program ends. When ctx ends or a writer fails, it kills the program. A nil
// writer discards the output.
func (p *Program) Relay(ctx context.Context, stdout, stderr io.Writer) error {
	var reading sync.WaitGroup
	var failed [2]error
	relaying, fail := context.WithCancel(ctx)
	defer fail()
	for i, from := range []*os.File{p.Stdout, p.Stderr} {
		to := []io.Writer{stdout, stderr}[i]
		if to == nil {
			to = io.Discard
		}
		reading.Go(func() {
			if _, failed[i] = io.Copy(to, from); failed[i] != nil {
				fail() // the program would block when the pipe is full
			}
		})
	}
	select {
	case <-p.Done():
	case <-relaying.Done():
		p.stop()
	}
	// All descendants are dead; only an unrelated process can still hold the pipes.
	_ = p.Stdout.SetReadDeadline(time.Now().Add(killGrace))
	_ = p.Stderr.SetReadDeadline(time.Now().Add(killGrace))
	reading.Wait()
	for i, err := range failed {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			failed[i] = nil
		}
	}
	return errors.Join(failed[:]...)
}
