package process

import (
	"context"
	"io"
	"sync/atomic"
	"time"

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
	Started bool   // the command runs; the first report
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

// Start starts a command with pipes as its standard files. The caller must call Kill in
// the end. If the command cannot be executed, the error is a [*domarkx.ToolError] with
// the code CodeFailed. The main function of this program must call [Supervise] first.
func (r *Runner) Start(spec Command) (*Program, error) {
	return r.start(context.Background(), spec, true)
}

func (r *Runner) start(ctx context.Context, spec Command, pipes bool) (*Program, error) {
	c := command{Command: spec, Namespace: r.HasNamespaces(), Pipes: pipes}
	p, err := c.start(ctx)
	if err == nil && !c.Namespace {
		r.noNamespace.Store(true)
	}
	return p, err
}

// Run runs a command and writes its output to w, until the command ends, ctx ends or
// a write to w fails. When Run returns, every process that the command started is dead. A
// deadline that passed is not an error but reported in the status.
func (r *Runner) Run(ctx context.Context, spec Command, w io.Writer) (toolresult.Status, error) {
	if err := ctx.Err(); err != nil {
		return toolresult.Status{}, err
	}
	p, err := r.start(ctx, spec, false)
	if err != nil && ctx.Err() != nil {
		return ended(ctx)
	}
	if err != nil {
		return toolresult.Status{}, err
	}
	defer p.Kill()
	return p.Finish(ctx, w, nil)
}
