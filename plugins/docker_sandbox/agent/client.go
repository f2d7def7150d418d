package agent

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// hello is the payload of the first request; it describes the container.
type hello struct {
	// Keep lists mount points, relative to the root, whose files belong to the container.
	Keep []string `json:"keep,omitempty"`
}

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
	Code   int    `json:"code"` // 128+N after signal N
	Failed string `json:"failed,omitempty"`
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
	in  *frameReader
	out *frameWriter

	reached Reached // by the last command
}

// NewClient returns a client that reads the agent's standard output and writes its standard input.
func NewClient(stdout io.Reader, stdin io.Writer) *Client {
	return &Client{in: &frameReader{r: bufio.NewReaderSize(stdout, 1<<16)}, out: &frameWriter{w: stdin}}
}

// Hello must be the first request. keep lists the mount points whose files belong to the container, relative to the root.
func (c *Client) Hello(keep []string) error {
	if err := c.out.writeJSON(kindHello, hello{Keep: keep}); err != nil {
		return err
	}
	return c.end()
}

// Frozen is the result of [Client.Freeze].
type Frozen struct {
	Busy bool  `json:"busy"` // whether processes other than the agent are running
	Now  int64 `json:"now"`  // nanoseconds since 1970, by the clock of the container's file system
}

// Freeze stops all processes except the agent, so that files stay as they are until Thaw.
func (c *Client) Freeze() (Frozen, error) {
	var f Frozen
	if err := c.out.write(kindFreeze, nil); err != nil {
		return f, err
	}
	answer, err := io.ReadAll(io.LimitReader(&dataReader{next: c.in.next}, maxFrame))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(answer, &f); err != nil {
		return f, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return f, nil
}

// Thaw resumes the processes that [Client.Freeze] stopped.
func (c *Client) Thaw() error {
	if err := c.out.write(kindThaw, nil); err != nil {
		return err
	}
	return c.end()
}

func (c *Client) end() error {
	d := dataReader{next: c.in.next}
	if n, err := io.Copy(io.Discard, &d); err != nil {
		return err
	} else if n > 0 {
		return fmt.Errorf("%w: unexpected data in an answer", errProtocol)
	}
	return nil
}

// Run runs a command and returns its exit code, 128+N after signal N. It writes the standard output and standard error of
// the command to w in the order in which they arrive. When ctx ends, Run kills all processes in the container and returns
// ctx.Err(). It starts a detached command without waiting for it.
func (c *Client) Run(ctx context.Context, command Command, w io.Writer) (code int, err error) {
	c.reached = Reached{}
	if err := c.out.writeJSON(kindRun, command); err != nil {
		return 0, err
	}
	// Run returns only after the kill was sent: it must not reach the next command.
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		_ = c.out.write(kindKill, nil) // the loop below notices a broken connection
	})
	ended := func() bool {
		if stop() {
			return false
		}
		<-killed
		return true
	}
	var failed error
	for {
		kind, payload, err := c.in.next()
		if err != nil {
			ended()
			return 0, noEOF(err)
		}
		switch kind {
		case kindData:
			if failed == nil {
				if _, failed = w.Write(payload); failed != nil {
					if err := c.out.write(kindKill, nil); err != nil {
						return 0, err
					}
				}
			}
		case kindExit:
			timeout := ended()
			var status exitStatus
			if err := json.Unmarshal(payload, &status); err != nil {
				return 0, fmt.Errorf("%w: %w", errProtocol, err)
			}
			c.reached = status.Reached
			switch {
			case failed != nil:
				return 0, failed
			case status.NoProgram:
				return 0, fmt.Errorf("%w: %q", ErrNoProgram, strings.Join(command.Args[:min(1, len(command.Args))], ""))
			case status.Failed != "":
				return 0, &RequestError{Message: status.Failed}
			case timeout:
				return 0, ctx.Err()
			}
			return status.Code, nil
		default:
			return 0, fmt.Errorf("%w: unexpected frame %q", errProtocol, kind)
		}
	}
}

// Reached returns the limits that the last command reached.
func (c *Client) Reached() Reached { return c.reached }

// Scan calls yield for each file of the container in depth-first order, with the names in a directory sorted by bytes. It
// skips mount points and everything below them, except those given to Hello.
func (c *Client) Scan(yield func(Entry) error) error {
	if err := c.out.write(kindScan, nil); err != nil {
		return err
	}
	d := &dataReader{next: c.in.next}
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
	d := &dataReader{next: c.in.next}
	for i := range sums {
		if _, err := io.ReadFull(d, sums[i][:]); err != nil {
			return nil, noEOF(err)
		}
	}
	return sums, d.drain()
}

// Read calls yield for each regular file with its content, until yield fails; yield need not read all of it.
// For a file that cannot be opened, reading returns a [*RequestError].
func (c *Client) Read(paths []string, yield func(i int, r io.Reader) error) error {
	if err := c.send(kindRead, paths); err != nil {
		return err
	}
	var failed error
	for i := range paths {
		d := &dataReader{next: c.in.next}
		if failed == nil {
			failed = yield(i, d)
		}
		// The next request can follow once all answers are read.
		var refused *RequestError
		if err := d.drain(); err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return failed
}

// send writes a request with its paths. The agent reads all of them before it answers, so that neither side waits for the other.
func (c *Client) send(kind byte, paths []string) error {
	if err := c.out.write(kind, nil); err != nil {
		return err
	}
	w := bufio.NewWriterSize(dataWriter{c.out}, 1<<16)
	for _, path := range paths {
		_, _ = w.Write(appendString(nil, path)) // Flush returns the first error
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return c.out.write(kindEnd, nil)
}

// An Application is a sequence of changes to the container's files. The caller must call Finish, even after an error.
type Application struct {
	c     *Client
	out   *frameWriter
	flush func() error
}

// Apply starts a sequence of changes.
func (c *Client) Apply() (*Application, error) {
	if err := c.out.write(kindApply, nil); err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(c.out.w, maxFrame)
	return &Application{c: c, out: &frameWriter{w: w}, flush: w.Flush}, nil
}

// Delete removes a path and everything below it. It does nothing if the path does not exist.
func (a *Application) Delete(path string) error {
	return a.out.write(kindDelete, []byte(path))
}

// Put creates or replaces the file that e describes. An existing directory keeps its files if e
// is a directory too; everything else is removed first. content is that of a regular file, else nil.
func (a *Application) Put(e *Entry, content io.Reader) error {
	if err := a.out.write(kindPut, AppendEntry(nil, e)); err != nil {
		return err
	}
	if content == nil {
		return nil
	}
	if _, err := io.CopyBuffer(dataWriter{a.out}, onlyReader{content}, make([]byte, 1<<17)); err != nil {
		return err
	}
	return a.out.write(kindEnd, nil)
}

type onlyReader struct{ io.Reader }

// Link creates a hard link at path to the file at target.
func (a *Application) Link(path, target string) error {
	return a.out.write(kindLink, bytes.Join([][]byte{[]byte(path), []byte(target)}, []byte{0}))
}

// Finish waits until all changes are made, and returns the first error.
func (a *Application) Finish() error {
	err := a.out.write(kindEnd, nil)
	if err == nil {
		err = a.flush()
	}
	if err != nil {
		return err
	}
	return a.c.end()
}
