package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// A Command is a program to run under a supervisor.
type Command struct {
	Program  string   // absolute path
	Args     []string // including the program's name
	Dir      string
	Env      []string
	Confined bool     // whether the command can write only to Writable
	Writable []string // directories
	Sealed   []string // paths in Writable that are read-only; this needs a namespace
	Hidden   []string // directories that look empty to a confined command, except for what Dir and Writable have in them; this needs a namespace
	Sockets  []string // Unix sockets outside of Writable to which a confined command may connect

	Processes int64 // how many, with their threads, the command may have; 0 for any number
	Memory    int64 // bytes that they may use; 0 for any number
}

// A command is a [Command] together with the way to run it.
type command struct {
	Command
	Namespace bool // the supervisor is the first process of a PID namespace
	Pipes     bool // the command has a standard input, and a standard error of its own
	OwnMemory bool // the namespace has a /dev/shm of its own

	SocketDirs []string // directories that look empty to a confined command; this needs a namespace
}

// A report is a message of a supervisor to this process.
type report struct {
	Started bool   // the command runs; the first report of a command with pipes
	Unable  string // why the namespace cannot be set up; run the command without one
	Error   string // why the command could not be run
	Exit    int    // 128+N after signal N
	Over    string // the limit for which the command was killed
}

// A Runner runs commands. It remembers whether this user may create namespaces.
type Runner struct{ noNamespace atomic.Bool }

// NewRunner returns a Runner. It tries namespaces only if namespaces is true.
func NewRunner(namespaces bool) *Runner {
	r := &Runner{}
	r.noNamespace.Store(!namespaces)
	return r
}

// HasNamespaces reports whether commands run in namespaces, as far as known: it is true
// until the first attempt failed.
func (r *Runner) HasNamespaces() bool { return namespaces && !r.noNamespace.Load() }

// A Lack is something that a system cannot do.
type Lack struct {
	What string // the consequence, and why
	Fix  string // what the user can do about it
}

// killGrace bounds how long a supervisor without a namespace may take to kill its
// descendants.
const killGrace = 5 * time.Second

// Run runs a command and writes its output to w, until the command ends, ctx ends,
// stop is closed or a write to w fails. When Run returns, every process that the command started is dead. A
// deadline that passed is not an error but reported in the status.
func (r *Runner) Run(ctx context.Context, spec Command, w io.Writer, stop <-chan struct{}) (toolresult.Status, error) {
	for {
		c := command{Command: spec, Namespace: r.HasNamespaces()}
		status, err := c.run(ctx, w, stop)
		if c.Namespace && errors.Is(err, errNoNamespace) {
			r.noNamespace.Store(true)
			continue
		}
		return status, err
	}
}

// errNoNamespace reports that this user may not create a PID namespace.
var errNoNamespace = errors.New("no PID namespace")

// run runs a command with or without a namespace, as c says.
func (c command) run(ctx context.Context, w io.Writer, stop <-chan struct{}) (toolresult.Status, error) {
	if err := ctx.Err(); err != nil {
		return toolresult.Status{}, err
	}
	p, err := c.start()
	if err != nil {
		return toolresult.Status{}, err
	}
	defer p.close()
	copied, broken := make(chan error, 1), make(chan struct{})
	go func() {
		_, err := io.Copy(w, p.output)
		if err != nil {
			close(broken) // the command would block when the pipe is full
		}
		copied <- err
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.wait() // the report has the exit code
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		p.kill(ended)
	case <-stop:
		p.kill(ended)
	case <-broken:
		p.kill(ended)
	}
	// All descendants are dead; only an unrelated process can still hold the pipe.
	_ = p.output.SetReadDeadline(time.Now().Add(killGrace))
	if err := <-copied; err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return toolresult.Status{}, fmt.Errorf("reading the output of a command: %w", err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return toolresult.Status{TimedOut: true, ExitCode: -1}, nil
	}
	if err := ctx.Err(); err != nil {
		return toolresult.Status{}, err
	}
	select {
	case <-stop:
		return toolresult.Status{ExitCode: -1}, nil
	default:
	}
	r := p.report()
	switch {
	case r.Unable != "":
		return toolresult.Status{}, fmt.Errorf("%w: %s", errNoNamespace, r.Unable)
	case r.Error != "":
		return toolresult.Status{}, &domarkx.ToolError{Code: domarkx.CodeFailed, Message: r.Error}
	}
	return toolresult.Status{ExitCode: r.Exit, Over: r.Over}, nil
}
