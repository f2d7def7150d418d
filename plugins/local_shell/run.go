package localshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// A command is what a supervisor is to run.
type command struct {
	Program   string
	Args      []string // with the program's name
	Dir       string
	Env       []string
	Writable  []string // folders
	Sealed    []string // what in them cannot be written all the same, where there is a namespace
	Confined  bool     // whether only those can be written
	Namespace bool     // whether the supervisor is the first of a PID namespace
	Talks     bool     // whether it has an input, and its errors are not part of its output

	SocketDirs []string // directories that look empty to a confined command, where there is a namespace
	Sockets    []string // sockets outside its folders to which a confined command may connect
}

// A report is how a supervisor ended.
type report struct {
	Started bool   // the first report of a command that talks: it runs now
	Unable  string // what a namespace lacks, so that another way is to be tried
	Error   string // why the command could not be run
	Exit    int    // 128+N after signal N
}

// A method remembers how commands can be kept together.
type method struct{ noNamespace atomic.Bool }

// killGrace is what a supervisor without a namespace gets to kill what is below it.
const killGrace = 5 * time.Second

// run runs a command and gives its output to w. When it returns, all that the
// command started is dead.
func (m *method) run(ctx context.Context, c command, w *limiter) (toolresult.Status, error) {
	for {
		c.Namespace = namespaces && !m.noNamespace.Load()
		status, err := c.run(ctx, w)
		if c.Namespace && errors.Is(err, errNoNamespace) {
			m.noNamespace.Store(true)
			continue
		}
		return status, err
	}
}

// errNoNamespace says that this system gives this user no PID namespace.
var errNoNamespace = errors.New("no PID namespace")

// run runs a command in one way.
func (c command) run(ctx context.Context, w *limiter) (toolresult.Status, error) {
	if err := ctx.Err(); err != nil {
		return toolresult.Status{}, err
	}
	p, err := c.start()
	if err != nil {
		return toolresult.Status{}, err
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, p.output)
		copied <- err
	}()
	ended := make(chan error, 1)
	go func() { ended <- p.wait() }()
	select {
	case <-ended:
	case <-ctx.Done():
		p.kill(ended)
	case <-w.over:
		p.kill(ended)
	}
	// What holds the pipe still is no child of the command's.
	p.output.SetReadDeadline(time.Now().Add(killGrace))
	if err := <-copied; err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return toolresult.Status{}, fmt.Errorf("reading the output of a command: %w", err)
	}
	p.output.Close()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return toolresult.Status{TimedOut: true, ExitCode: -1}, nil
	}
	if err := ctx.Err(); err != nil {
		return toolresult.Status{}, err
	}
	select {
	case <-w.over:
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
	return toolresult.Status{ExitCode: r.Exit}, nil
}
