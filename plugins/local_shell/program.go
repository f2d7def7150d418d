package localshell

import (
	"fmt"
	"os"
	"sync"

	"github.com/domarkx/domarkx"
)

// A Program is a program that another plugin talks with while it runs. It is
// supervised like a command, so that nothing that it started outlives it or this
// program, but not confined, and its environment is what it is given.
type Program struct {
	Stdin  *os.File // the caller's to write and close
	Stdout *os.File // the caller's to read
	Stderr *os.File // likewise; both must be read, or the program waits

	p     *process
	ended chan error
	done  chan struct{}
	once  sync.Once

	closing sync.Once
	exit    int

	unsealed bool // it can write what was to be sealed
}

// StartProgram starts a program in a folder. The program's main must call
// [Supervise] first. The caller ends it with Kill, always.
func StartProgram(path, dir string, env []string) (*Program, error) {
	return startTalking(command{Program: path, Args: []string{path}, Dir: dir, Env: env, Talks: true}, domarkx.CodeBroken)
}

// startTalking starts a command that talks, in the way that works here. That it
// cannot be run is a ToolError with that code.
func startTalking(c command, code string) (*Program, error) {
	c.Namespace = namespaces
	p, why, err := c.talk()
	if c.Namespace && err == nil && why.Unable != "" {
		c.Namespace = false
		p, why, err = c.talk()
	}
	switch {
	case err != nil:
		return nil, err
	case !why.Started:
		return nil, &domarkx.ToolError{Code: code, Message: why.Error}
	}
	p.unsealed = len(c.Sealed) > 0 && !c.Namespace
	return p, nil
}

// talk starts a command that talks, in one way. Unless the report says that it has
// started there is none.
func (c command) talk() (*Program, report, error) {
	process, err := c.start()
	if err != nil && c.Namespace {
		return nil, report{Unable: err.Error()}, nil
	}
	if err != nil {
		return nil, report{}, fmt.Errorf("starting %q: %w", c.Program, err)
	}
	p := &Program{
		Stdin: process.input, Stdout: process.output, Stderr: process.errors,
		p: process, ended: make(chan error, 1), done: make(chan struct{}),
	}
	r := process.started()
	go func() {
		err := process.wait()
		p.exit = process.report().Exit
		p.ended <- err
		close(p.ended)
		close(p.done)
	}()
	if !r.Started {
		p.Kill()
	}
	return p, r, nil
}

// Done is closed when the program has ended, and all that it started.
func (p *Program) Done() <-chan struct{} { return p.done }

// ExitCode is how the program ended, 128+N after signal N, once Done is closed.
func (p *Program) ExitCode() int { return p.exit }

// Kill ends the program with all that it started, unless it has ended, waits for
// that, and closes its files.
func (p *Program) Kill() {
	p.stop()
	p.closing.Do(func() {
		p.Stdin.Close()
		p.Stdout.Close()
		p.Stderr.Close()
	})
}

// stop ends the program with all that it started, and waits for that; what it wrote
// can still be read.
func (p *Program) stop() {
	p.once.Do(func() {
		p.p.kill(p.ended)
		<-p.done
	})
}
