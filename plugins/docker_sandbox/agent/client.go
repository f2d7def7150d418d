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
	"slices"
)

// A hello tells the agent what the container is.
type hello struct {
	// Keep are mount points, from the root, that belong to the container's files.
	Keep []string `json:"keep,omitempty"`
}

// A Command is what is run in the container.
type Command struct {
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"`  // "NAME=VALUE"
	Dir  string   `json:"dir,omitempty"`  // "/" unless set; made when it is not there
	User string   `json:"user,omitempty"` // "USER[:GROUP]", names or numbers; root unless set
	// Detached commands are begun and left alone; their output is lost. A kill ends
	// them with all others, and begins them again.
	Detached bool `json:"detached,omitempty"`
}

type exitStatus struct {
	Code   int    `json:"code"` // 128+N after signal N
	Failed string `json:"failed,omitempty"`
	// NoProgram says that there is no such program.
	NoProgram bool `json:"no_program,omitempty"`
}

// ErrNoProgram says that the container has no such program.
var ErrNoProgram = errors.New("no such program in the container")

// A Client talks to the agent of one container. Its methods are called by one
// goroutine at a time. After an error that is no [*RequestError] the agent is
// of no more use.
type Client struct {
	in  *frameReader
	out *frameWriter
}

// NewClient makes a client from the agent's standard output and input.
func NewClient(stdout io.Reader, stdin io.Writer) *Client {
	return &Client{in: &frameReader{r: bufio.NewReaderSize(stdout, 1<<16)}, out: &frameWriter{w: stdin}}
}

// Hello is the first request.
func (c *Client) Hello(keep []string) error {
	if err := c.out.writeJSON(kindHello, hello{Keep: keep}); err != nil {
		return err
	}
	return c.end()
}

// Frozen is what a [Client.Freeze] found.
type Frozen struct {
	Busy bool  `json:"busy"` // whether there are processes beside the agent
	Now  int64 `json:"now"`  // nanoseconds since 1970, by the clock of the container's files
}

// Freeze stops all processes but the agent, so that nothing changes; Thaw lets
// them go on.
func (c *Client) Freeze() (Frozen, error) {
	var f Frozen
	if err := c.out.write(kindFreeze, nil); err != nil {
		return f, err
	}
	answer, err := io.ReadAll(io.LimitReader(&dataReader{f: c.in}, maxFrame))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(answer, &f); err != nil {
		return f, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return f, nil
}

// Thaw undoes [Client.Freeze].
func (c *Client) Thaw() error {
	if err := c.out.write(kindThaw, nil); err != nil {
		return err
	}
	return c.end()
}

func (c *Client) end() error {
	d := dataReader{f: c.in}
	if n, err := io.Copy(io.Discard, &d); err != nil {
		return err
	} else if n > 0 {
		return fmt.Errorf("%w: data for a request without", errProtocol)
	}
	return nil
}

// Run runs a command, writes its output (both streams, as they come) to w and
// returns its exit code, 128+N after signal N. When ctx ends, all processes in the
// container are killed and the error is that of ctx. A detached command is only
// begun.
func (c *Client) Run(ctx context.Context, command Command, w io.Writer) (code int, err error) {
	if err := c.out.writeJSON(kindRun, command); err != nil {
		return 0, err
	}
	// The kill is on its way before Run returns: it must not hit the next command.
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		_ = c.out.write(kindKill, nil) // who reads the answer sees a broken connection too
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
			switch {
			case failed != nil:
				return 0, failed
			case status.NoProgram:
				return 0, fmt.Errorf("%w: %q", ErrNoProgram, command.Args[0])
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

// Scan lists all files of the container, in the order of a walk, a directory's by
// the bytes of their names. Mount points are left out with what is below them,
// but for those that Hello told to keep.
func (c *Client) Scan(yield func(Entry) error) error {
	if err := c.out.write(kindScan, nil); err != nil {
		return err
	}
	d := &dataReader{f: c.in}
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

// Hash returns the SHA-256 of the content of regular files.
func (c *Client) Hash(paths []string) ([][sha256.Size]byte, error) {
	sent := c.send(kindHash, paths)
	sums := make([][sha256.Size]byte, len(paths))
	d := &dataReader{f: c.in}
	for i := range sums {
		if _, err := io.ReadFull(d, sums[i][:]); err != nil {
			return nil, errors.Join(noEOF(err), <-sent)
		}
	}
	return sums, errors.Join(d.drain(), <-sent)
}

// Read gives the content of regular files to yield, which reads what it likes of
// it. Which could not be opened gives a [*RequestError] when it is read.
func (c *Client) Read(paths []string, yield func(i int, r io.Reader) error) error {
	sent := c.send(kindRead, paths)
	for i := range paths {
		d := &dataReader{f: c.in}
		err := yield(i, d)
		var refused *RequestError
		if drained := d.drain(); drained != nil && !errors.As(drained, &refused) {
			return errors.Join(drained, <-sent)
		}
		if err != nil {
			// The rest is read and thrown away, so that the agent can go on.
			for range paths[i+1:] {
				d := &dataReader{f: c.in}
				if drained := d.drain(); drained != nil && !errors.As(drained, &refused) {
					break
				}
			}
			return errors.Join(err, <-sent)
		}
	}
	return <-sent
}

// send sends a request with paths beside the reading of answers, which would
// otherwise wait for each other.
func (c *Client) send(kind byte, paths []string) <-chan error {
	sent := make(chan error, 1)
	list := slices.Clone(paths)
	go func() {
		sent <- func() error {
			if err := c.out.write(kind, nil); err != nil {
				return err
			}
			w := bufio.NewWriterSize(dataWriter{c.out}, 1<<16)
			for _, path := range list {
				if _, err := w.Write(appendString(nil, path)); err != nil {
					return err
				}
			}
			if err := w.Flush(); err != nil {
				return err
			}
			return c.out.write(kindEnd, nil)
		}()
	}()
	return sent
}

// An Application changes the files of the container. Finish ends it, also after
// an error.
type Application struct {
	c     *Client
	out   *frameWriter
	flush func() error
}

// Apply begins to change files.
func (c *Client) Apply() (*Application, error) {
	if err := c.out.write(kindApply, nil); err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(c.out.w, maxFrame)
	return &Application{c: c, out: &frameWriter{w: w}, flush: w.Flush}, nil
}

// Delete removes a path with all below it; one that is not there is none to do.
func (a *Application) Delete(path string) error {
	return a.out.write(kindDelete, []byte(path))
}

// Put makes the path what e says: a directory that is there stays, with its files;
// anything else is removed and made anew. content is that of a regular file.
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

// Link makes path another name of the file at target.
func (a *Application) Link(path, target string) error {
	return a.out.write(kindLink, bytes.Join([][]byte{[]byte(path), []byte(target)}, []byte{0}))
}

// Finish waits until all is done.
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
