package agent

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Command is a program to run in the container.
type Command struct {
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"`  // "NAME=VALUE"
	Dir  string   `json:"dir,omitempty"`  // default "/"; created if missing
	User string   `json:"user,omitempty"` // "USER[:GROUP]", names or numbers; default root
	// Detached commands run in the background and their output is discarded. When another
	// command is killed they are killed too, and then restarted.
	Detached bool `json:"detached,omitempty"`
}

type exitStatus struct {
	Code int `json:"code"` // 128+N after signal N
	// NoProgram reports that the program does not exist in the container.
	NoProgram bool `json:"no_program,omitempty"`
	Reached
}

// Reached says which limits of the container a command reached.
type Reached struct {
	Processes bool `json:"processes,omitempty"` // forks failed, and then everything in the container was killed
	Memory    bool `json:"memory,omitempty"`    // the kernel killed a process
}

// ErrNoProgram reports that a program does not exist in the container.
var ErrNoProgram = errors.New("no such program in the container")

// A Client sends requests to the agent of one container. It is not safe for concurrent use.
// After an error that is not a [*RequestError] the connection is unusable.
type Client struct {
	in  *bufio.Reader
	out *frameWriter

	reached Reached // by the last command
}

// NewClient returns a client that reads the agent's standard output and writes its standard input.
func NewClient(stdout io.Reader, stdin io.Writer) *Client {
	return &Client{in: bufio.NewReaderSize(stdout, 1<<16), out: &frameWriter{w: stdin}}
}

func (c *Client) answer() *dataReader {
	return &dataReader{next: func() (frame, error) { return readFrame(c.in) }}
}

// ask makes a request whose answer has no data. The answer's result is decoded into result unless that is nil.
func (c *Client) ask(kind byte, request, result any) error {
	if err := c.out.writeJSON(kind, request); err != nil {
		return err
	}
	return c.answer().end(result)
}

// Hello must be the first request. keep lists the mount points whose files belong to the container, relative to the root.
func (c *Client) Hello(keep []string) error { return c.ask(kindHello, keep, nil) }

// Frozen is the result of [Client.Freeze].
type Frozen struct {
	Busy bool  `json:"busy"` // whether processes other than the agent are running
	Now  int64 `json:"now"`  // nanoseconds since 1970, by the clock of the container's file system
}

// Freeze stops all processes except the agent, so that files stay as they are until Thaw.
func (c *Client) Freeze() (f Frozen, err error) {
	err = c.ask(kindFreeze, nil, &f)
	return f, err
}

// Thaw resumes the processes that [Client.Freeze] stopped.
func (c *Client) Thaw() error { return c.ask(kindThaw, nil, nil) }

// Run runs a command and returns its exit code, 128+N after signal N. It writes the standard output and standard error of
// the command to w in the order in which they arrive. When ctx ends, Run kills all processes in the container and returns
// ctx.Err(). It starts a detached command without waiting for it.
func (c *Client) Run(ctx context.Context, command Command, w io.Writer) (code int, err error) {
	c.reached = Reached{}
	if err := c.out.writeJSON(kindRun, command); err != nil {
		return 0, err
	}
	kill := sync.OnceFunc(func() { _ = c.out.write(kindKill, nil) }) // who reads the answer notices a broken connection
	stop := context.AfterFunc(ctx, kill)
	d := c.answer()
	// Without the method ReadFrom that w may have, each piece is written as it arrives.
	_, unwritten := io.Copy(struct{ io.Writer }{w}, d)
	if d.err == nil { // w failed
		kill()
		err = d.drain()
	}
	var status exitStatus
	if err == nil {
		err = d.end(&status)
	}
	ended := !stop()
	if ended {
		kill() // waits until it was sent: it must not reach the next command
	}
	c.reached = status.Reached
	switch {
	case err != nil:
		return 0, err
	case unwritten != nil:
		return 0, unwritten
	case status.NoProgram:
		return 0, fmt.Errorf("%w: %q", ErrNoProgram, strings.Join(command.Args[:min(1, len(command.Args))], ""))
	case ended:
		return 0, ctx.Err()
	}
	return status.Code, nil
}

// Reached returns the limits that the last command reached.
func (c *Client) Reached() Reached { return c.reached }

// Scan calls yield for each file of the container in depth-first order, with the names in a directory sorted by bytes. It
// skips mount points and everything below them, except those given to Hello.
func (c *Client) Scan(yield func(Entry) error) error {
	if err := c.out.write(kindScan, nil); err != nil {
		return err
	}
	d := c.answer()
	r := bufio.NewReaderSize(d, 1<<16)
	for {
		e, err := ReadEntry(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := yield(e); err != nil {
			return errors.Join(err, d.drain())
		}
	}
}

// Hash returns the SHA-256 of the content of each regular file.
func (c *Client) Hash(paths []string) ([][sha256.Size]byte, error) {
	if err := c.send(kindHash, paths); err != nil {
		return nil, err
	}
	sums := make([][sha256.Size]byte, len(paths))
	d := c.answer()
	for i := range sums {
		if _, err := io.ReadFull(d, sums[i][:]); err != nil {
			return nil, noEOF(err)
		}
	}
	return sums, d.end(nil)
}

// Read calls yield for each regular file with its content, until yield fails; yield need not read all of it.
// For a file that cannot be opened, reading returns a [*RequestError].
func (c *Client) Read(paths []string, yield func(i int, r io.Reader) error) error {
	if err := c.send(kindRead, paths); err != nil {
		return err
	}
	var failed error
	for i := range paths {
		d := c.answer()
		if failed == nil {
			failed = yield(i, d)
		}
		// The next request can follow once all answers are read.
		var refused *RequestError
		if err := d.drain(); err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return cmp.Or(c.answer().end(nil), failed)
}

// send writes a request with its paths. The agent reads all of them before it answers, so that neither side waits for the other.
func (c *Client) send(kind byte, paths []string) error {
	if err := c.out.write(kind, nil); err != nil {
		return err
	}
	w := bufio.NewWriterSize(c.out, 1<<16)
	for _, path := range paths {
		_, _ = w.WriteString(path + "\x00") // Flush returns the first error
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return c.out.write(kindEnd, nil)
}

// An Application is a sequence of changes to the container's files.
type Application struct{ out *frameWriter }

// Apply makes the changes that change asks for, in their order. It returns the first error, after which the changes that follow
// are not made. After an error of change the client is unusable.
func (c *Client) Apply(change func(*Application) error) error {
	if err := c.out.write(kindApply, nil); err != nil {
		return err
	}
	w := bufio.NewWriterSize(c.out.w, maxFrame)
	a := &Application{&frameWriter{w: w}}
	if err := change(a); err != nil {
		return err
	}
	if err := errors.Join(a.out.write(kindEnd, nil), w.Flush()); err != nil {
		return err
	}
	return c.answer().end(nil)
}

// Delete removes a path and everything below it. It does nothing if the path does not exist.
func (a *Application) Delete(path string) error {
	return a.Put(&Entry{Path: path, File: domarkx.File{Type: deleted}}, nil)
}

// Put creates or replaces the file that e describes. An existing directory keeps its files if e
// is a directory too; everything else is removed first. content is that of a regular file that is no hard link.
func (a *Application) Put(e *Entry, content io.Reader) error {
	if e.HardLink != "" {
		e = &Entry{Path: e.Path, File: domarkx.File{Type: link, Target: e.HardLink}}
	}
	if err := a.out.write(kindPut, AppendEntry(nil, e)); err != nil || e.Type != domarkx.Regular {
		return err
	}
	if _, err := io.CopyBuffer(a.out, content, make([]byte, 1<<17)); err != nil {
		return err
	}
	return a.out.write(kindEnd, nil)
}
