package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/process"
)

// Limits of messages, in bytes including the line end.
const (
	maxLine    = 4 << 20  // of a plugin
	maxRequest = 64 << 20 // of the host
)

// A conversation is a running program and the state of the protocol.
type conversation struct {
	name    string // of the program, for error messages
	program *process.Program
	journal *process.Journal
	redact  func(string) string
	lines   chan line
	quit    chan struct{}
	last    int   // id of the last request
	broken  error // error that ended the conversation; nil while it works
}

// A line is one line of the program's output, or with err set the reason why no more lines follow.
type line struct {
	text []byte
	err  error
}

// errLong reports a line over the limit.
var errLong = fmt.Errorf("a line over %d MiB", maxLine>>20)

// start starts a program in a directory. redact is [domarkx.Env.Redact].
func start(name, path, dir, log string, limits domarkx.Limits, tell func(string), redact func(string) string) (*conversation, error) {
	if redact == nil {
		redact = func(text string) string { return text }
	}
	p, err := process.NewRunner(true).Start(process.Command{Program: path, Args: []string{path}, Dir: dir, Env: environment(os.Environ()),
		Processes: limits.Processes, Memory: limits.Memory})
	if err != nil {
		if refused, ok := errors.AsType[*domarkx.ToolError](err); ok {
			err = errors.New(refused.Message)
		}
		return nil, domarkx.NewToolError(domarkx.CodeBroken, "plugin %q: starting %q: %v", name, path, err)
	}
	c := &conversation{
		name: name, program: p, lines: make(chan line), quit: make(chan struct{}),
		redact:  redact,
		journal: process.Follow(p.Stderr, log, tell, redact),
	}
	go c.read(p.Stdout)
	return c, nil
}

// environment returns the environment of a program: without Git's variables, which belong to
// another repository, and without relative entries in PATH.
func environment(all []string) []string {
	var env []string
	for _, v := range all {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "GIT_"):
		case name == "PATH":
			var dirs []string
			for _, dir := range filepath.SplitList(value) {
				if filepath.IsAbs(dir) {
					dirs = append(dirs, dir)
				}
			}
			env = append(env, "PATH="+strings.Join(dirs, string(filepath.ListSeparator)))
		default:
			env = append(env, v)
		}
	}
	return env
}

// read sends the program's lines to c.lines one at a time: a program that writes too much blocks on
// its pipe.
func (c *conversation) read(r io.Reader) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		var l line
		for {
			part, err := in.ReadSlice('\n')
			l.text = append(l.text, part...)
			if len(l.text) > maxLine {
				l = line{err: errLong}
			} else if errors.Is(err, bufio.ErrBufferFull) {
				continue
			} else if err != nil {
				l = line{err: io.EOF}
			}
			break
		}
		select {
		case c.lines <- l:
		case <-c.quit:
			return
		}
		if l.err != nil {
			return
		}
	}
}

// call sends a request, nil params for none, and waits for the answer. patience limits how long the plugin may stay
// silent; 0 means as long as ctx lasts. After any error except one that the plugin answered, the
// program and everything that it started is dead.
func (c *conversation) call(ctx context.Context, method string, params any, patience time.Duration) (jsonvalue.Value, error) {
	if c.broken != nil {
		return jsonvalue.Value{}, c.broken
	}
	c.last++
	request := message(c.last, method, params)
	if len(request) > maxRequest {
		return jsonvalue.Value{}, domarkx.NewToolError(domarkx.CodeInvalid, "the call has %d bytes, expected at most %d", len(request), maxRequest)
	}
	select {
	case l := <-c.lines:
		return jsonvalue.Value{}, c.unasked(l)
	default:
	}
	written := make(chan error, 1)
	go func() {
		_, err := c.program.Stdin.Write(request)
		written <- err
	}()
	a, err := c.answer(ctx, method, patience, written)
	if err == nil {
		err = a.err
	}
	return a.result, err
}

// answer waits for the answer to the last request.
func (c *conversation) answer(ctx context.Context, method string, patience time.Duration, written <-chan error) (answer, error) {
	var late <-chan time.Time
	timer := time.NewTimer(max(patience, 1))
	defer timer.Stop()
	if patience > 0 {
		late = timer.C
	}
	var got *answer
	for got == nil || written != nil {
		select {
		case <-ctx.Done():
			c.end(ctx.Err())
			return answer{}, ctx.Err()
		case <-late:
			return answer{}, c.fail("it does not answer %s, and said nothing for %v", method, patience)
		case err := <-written:
			if written = nil; err != nil && got == nil {
				select { // if the program just ended, the error of its output says more
				case l := <-c.lines:
					if l.err != nil {
						return answer{}, c.over(method, l.err)
					}
				case <-time.After(time.Second):
				}
				return answer{}, c.fail("it does not read its input (%s)", method)
			}
		case l := <-c.lines:
			if l.err != nil {
				return answer{}, c.over(method, l.err)
			}
			if got != nil {
				return answer{}, c.unasked(l)
			}
			a, err := parse(l.text)
			switch {
			case err != nil:
				return answer{}, c.fail("it answered %s with %s: %v", method, c.quote(l.text), err)
			case a.progress:
				timer.Reset(max(patience, 1))
			case a.id != strconv.Itoa(c.last):
				return answer{}, c.fail("it answered a request %s, expected the answer to %d (%s)", a.id, c.last, method)
			default:
				got = &a
			}
		}
	}
	return *got, nil
}

// over ends the conversation after the program's output ended with err, and returns an error that
// explains the reason.
func (c *conversation) over(method string, err error) error {
	if errors.Is(err, errLong) {
		return c.fail("it answered %s with %v", method, err)
	}
	select {
	case <-c.program.Done():
	case <-time.After(time.Second):
		return c.fail("it closed its output during %s", method)
	}
	<-c.journal.Done()
	if over := c.program.Over(); over != "" {
		return c.fail("it was ended during %s, because it had %s", method, over)
	}
	return c.fail("it ended during %s, with exit code %d", method, c.program.ExitCode())
}

// unasked ends the conversation because the program wrote something when no request was open.
func (c *conversation) unasked(l line) error {
	if l.err != nil {
		return c.over("a pause", l.err)
	}
	return c.fail("it wrote %s, to which there was no request", c.quote(l.text))
}

// fail ends the conversation with a plugin that misbehaved.
func (c *conversation) fail(format string, args ...any) error {
	why := fmt.Sprintf("plugin %q broke: ", c.name) + fmt.Sprintf(format, args...)
	c.stop()
	if words := c.journal.LastWords(); words != "" {
		why += "; it wrote to its standard error: " + words
	}
	c.broken = &domarkx.ToolError{Code: domarkx.CodeBroken, Message: why}
	return c.broken
}

func (c *conversation) end(why error) {
	c.stop()
	c.broken = fmt.Errorf("plugin %q was stopped: %w", c.name, why)
}

// stop kills the program and everything that it started.
func (c *conversation) stop() {
	if c.broken != nil {
		return
	}
	close(c.quit)
	c.program.Kill()
	<-c.journal.Done()
}

// errClosed reports that the host ended a conversation.
var errClosed = errors.New("it is no longer needed")

// alive reports whether requests can be sent.
func (c *conversation) alive() bool {
	if c == nil || c.broken != nil {
		return false
	}
	select {
	case <-c.program.Done():
		c.end(errors.New("it was killed"))
		return false
	default:
		return true
	}
}

// shutdown asks the program to exit and gives it some time.
func (c *conversation) shutdown(ctx context.Context, patience time.Duration) {
	if c.broken != nil {
		return
	}
	if _, err := c.call(ctx, "shutdown", nil, patience); err == nil {
		if _, err := c.program.Stdin.Write(message(nil, "exit", nil)); err == nil {
			c.program.Stdin.Close()
			select {
			case <-c.program.Done():
			case <-time.After(patience):
			case <-ctx.Done():
			}
		}
	}
	if c.broken == nil {
		c.end(errClosed)
	}
}

// quote returns the beginning of a line for a message. It redacts before it truncates, so that
// no half of a secret remains.
func (c *conversation) quote(line []byte) string {
	const most = 100
	text := strings.TrimSuffix(c.redact(string(line)), "\n")
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
