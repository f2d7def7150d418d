package process

import (
	"fmt"
	"os"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Program is a supervised program that the caller communicates with while it runs.
type Program struct {
	Stdin  *os.File // the caller writes and closes it
	Stdout *os.File // the caller must read it, or the program blocks
	Stderr *os.File // likewise

	p     *process
	ended chan struct{}
	done  chan struct{}
	once  sync.Once

	closing sync.Once
	last    report

	unsealed bool // see Unsealed
}

// Start starts a command with pipes as its standard files. The caller must call Kill in
// the end. If the command cannot be executed, the error is a [*domarkx.ToolError] with
// the code CodeFailed. The main function of this program must call [Supervise] first.
func Start(spec Command) (*Program, error) {
	c := command{Command: spec, Namespace: namespaces, Pipes: true}
	p, why, err := c.startProgram()
	if c.Namespace && err == nil && why.Unable != "" {
		c.Namespace = false
		p, why, err = c.startProgram()
	}
	switch {
	case err != nil:
		return nil, err
	case !why.Started:
		return nil, &domarkx.ToolError{Code: domarkx.CodeFailed, Message: why.Error}
	}
	p.unsealed = len(c.Sealed) > 0 && !c.Namespace
	return p, nil
}

// startProgram starts a command with or without a namespace, as c says. The Program is
// only valid if the report says Started.
func (c command) startProgram() (*Program, report, error) {
	process, err := c.start()
	if err != nil && c.Namespace {
		return nil, report{Unable: err.Error()}, nil
	}
	if err != nil {
		return nil, report{}, fmt.Errorf("starting %q: %w", c.Program, err)
	}
	p := &Program{
		Stdin: process.input, Stdout: process.output, Stderr: process.errors,
		p: process, ended: make(chan struct{}), done: make(chan struct{}),
	}
	r := process.started()
	go func() {
		_ = process.wait() // the report has the exit code
		p.last = process.report()
		close(p.ended)
		close(p.done)
	}()
	if !r.Started {
		p.Kill()
	}
	return p, r, nil
}

// Done returns a channel that is closed when the program and everything that it started
// have ended.
func (p *Program) Done() <-chan struct{} { return p.done }

// ExitCode returns the exit code, 128+N after signal N. It is valid after Done is closed.
func (p *Program) ExitCode() int { return p.last.Exit }

// Over returns the limit for which the program was killed, "" for none. It is valid after Done is closed.
func (p *Program) Over() string { return p.last.Over }

// Unsealed reports that the program can write [Command].Sealed, because this user may not
// create namespaces.
func (p *Program) Unsealed() bool { return p.unsealed }

// Kill kills the program and everything that it started, waits for their end, and closes
// the pipes. It may be called several times, also after the end of the program.
func (p *Program) Kill() {
	p.stop()
	p.closing.Do(func() {
		p.Stdin.Close()
		p.Stdout.Close()
		p.Stderr.Close()
	})
}

// stop is Kill without closing the pipes, so that buffered output can still be read.
func (p *Program) stop() {
	p.once.Do(func() {
		p.p.kill(p.ended)
		<-p.done
	})
}
