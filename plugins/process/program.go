package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// A Program is a supervised program that the caller communicates with while it runs.
type Program struct {
	Stdin  *os.File // the caller writes and closes it
	Stdout *os.File // the caller must read it, or the program blocks
	Stderr *os.File // likewise

	name string
	p    *process
	done chan struct{}
	once sync.Once
	last report
}

// start starts a command, without a namespace if this user may not create one, and sets c.Namespace. When ctx ends
// before the command runs, it kills the command. The caller must call Kill in the end.
func (c *command) start(ctx context.Context) (*Program, error) {
	p, r, err := c.launch(ctx)
	if c.Namespace && (err != nil || r.Unable != "") {
		c.Namespace = false
		p, r, err = c.launch(ctx)
	}
	if err == nil && !r.Started {
		err = &domarkx.ToolError{Code: domarkx.CodeFailed, Message: r.Error}
	}
	return p, err
}

// launch starts a command with or without a namespace, as c says. The Program is
// only valid if the report says Started.
func (c *command) launch(ctx context.Context) (*Program, report, error) {
	p := &Program{name: c.Program, done: make(chan struct{})}
	var files pipes
	var in, out, errs *os.File // of the command
	p.Stdout, out = files.open()
	errs = out
	if c.Pipes {
		in, p.Stdin = files.open()
		p.Stderr, errs = files.open()
	}
	err := files.err
	if err == nil {
		p.p, err = c.begin(in, out, errs)
	}
	if err != nil {
		files.close()
		return nil, report{}, fmt.Errorf("starting %q: %w", c.Program, err)
	}
	for _, f := range []*os.File{in, out, errs} {
		f.Close()
	}
	first := make(chan report, 1)
	go func() {
		first <- p.p.report()
		p.last = p.p.wait()
		close(p.done)
	}()
	defer context.AfterFunc(ctx, p.stop)()
	r := <-first
	if !r.Started {
		p.Kill()
	}
	return p, r, nil
}

// pipes are pipes that are opened, and closed, together.
type pipes struct {
	files []*os.File
	err   error // the first
}

func (p *pipes) open() (r, w *os.File) {
	if p.err == nil {
		r, w, p.err = os.Pipe()
		p.files = append(p.files, r, w)
	}
	return r, w
}

func (p *pipes) close() {
	for _, f := range p.files {
		f.Close()
	}
}

// Done returns a channel that is closed when the program and everything that it started
// have ended.
func (p *Program) Done() <-chan struct{} { return p.done }

// ExitCode returns the exit code, 128+N after signal N. It is valid after Done is closed.
func (p *Program) ExitCode() int { return p.last.Exit }

// Over returns the limit for which the program was killed, "" for none. It is valid after Done is closed.
func (p *Program) Over() string { return p.last.Over }

// Kill kills the program and everything that it started, waits for their end, and closes
// the pipes. It may be called several times, also after the end of the program.
func (p *Program) Kill() {
	p.stop()
	p.Stdin.Close()
	p.Stdout.Close()
	p.Stderr.Close()
}

// stop is Kill without closing the pipes, so that buffered output can still be read.
func (p *Program) stop() { p.once.Do(func() { p.p.kill(p.done) }) }

// Finish copies the program's output to stdout and stderr, each from a goroutine of its
// own, until the program ends. When ctx ends or a writer fails, it kills the program. A nil
// writer discards the output. A deadline that passed is not an error but reported in the status.
func (p *Program) Finish(ctx context.Context, stdout, stderr io.Writer) (toolresult.Status, error) {
	reading, relaying := errgroup.WithContext(ctx)
	for from, to := range map[*os.File]io.Writer{p.Stdout: stdout, p.Stderr: stderr} {
		if to == nil {
			to = io.Discard
		}
		reading.Go(func() error {
			if from == nil {
				return nil
			}
			_, err := io.Copy(to, from) // after an error, the program would block when the pipe is full
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil
			}
			return err
		})
	}
	select {
	case <-p.done:
	case <-relaying.Done():
		p.stop()
	}
	// All descendants are dead; only an unrelated process can still hold the pipes.
	_ = p.Stdout.SetReadDeadline(time.Now().Add(killGrace))
	_ = p.Stderr.SetReadDeadline(time.Now().Add(killGrace))
	err := reading.Wait()
	switch {
	case err != nil:
		return toolresult.Status{}, fmt.Errorf("reading the output of %q: %w", p.name, err)
	case ctx.Err() != nil:
		return ended(ctx)
	case p.last.Error != "":
		return toolresult.Status{}, &domarkx.ToolError{Code: domarkx.CodeFailed, Message: p.last.Error}
	}
	return toolresult.Status{ExitCode: p.last.Exit, Over: p.last.Over}, nil
}

// ended returns the status of a program that was killed because ctx ended.
func ended(ctx context.Context) (toolresult.Status, error) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return toolresult.Status{TimedOut: true, ExitCode: -1}, nil
	}
	return toolresult.Status{}, ctx.Err()
}
