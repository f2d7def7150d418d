package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/plugins/process"
)

// Limits of the output of a program besides answers.
const (
	maxAsides     = 1000    // requests and notifications in one connection
	maxStrayLines = 1000    // lines that are no messages
	maxStray      = 1 << 20 // bytes of such lines
)

// endGrace is the time that a program has to end after its standard input was closed.
const endGrace = time.Second

// pipes is a connection to a program over its standard input and output: a message a line, as the
// protocol's transport "stdio" has it. Lines that are not messages are ignored, since many servers
// print greetings. It implements [sdk.Transport] and [sdk.Connection].
type pipes struct {
	program *process.Program
	stderr  *process.Journal
	forget  func() // called once everything has ended
	in      *bufio.Reader
	limit   int // bytes of a message
	grace   time.Duration

	writing sync.Mutex
	once    sync.Once
	asides
	progress
}

// asides counts the lines and messages of a program that are not answers. Only Read uses it.
type asides struct {
	stray                  func(line string) // receives the first line that is no message
	messages               int               // requests and notifications
	strayLines, strayBytes int
}

// progress is how far a connection has come.
type progress struct {
	mu      sync.Mutex
	calling jsonrpc.ID      // of the last call of a tool
	result  json.RawMessage // its result
	failed  error           // why the connection was given up
	ended   bool            // by this side
	over    bool            // the program ended or closed its files before
}

func (p *pipes) Connect(context.Context) (sdk.Connection, error) { return p, nil }

// SessionID returns "".
func (p *pipes) SessionID() string { return "" }

// Read returns the next message. It passes on the messages that a client needs: answers, requests, and the news
// that the tools changed.
func (p *pipes) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := p.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		message, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			if line[0] == '{' && bytes.Contains(line[:min(len(line), 200)], []byte(`"jsonrpc"`)) { // somebody may wait for it
				return nil, p.fail(fmt.Errorf("it wrote a message that cannot be read: %w", err))
			}
			if err := p.ignore(line); err != nil {
				return nil, err
			}
			continue
		}
		switch m := message.(type) {
		case *jsonrpc.Request:
			if !m.IsCall() && m.Method != "notifications/tools/list_changed" {
				continue
			}
			if p.messages++; p.messages > maxAsides {
				return nil, p.fail(fmt.Errorf("it sent more than %d requests and notifications", maxAsides))
			}
		case *jsonrpc.Response:
			p.mu.Lock()
			if p.calling.IsValid() && m.ID == p.calling {
				p.result, p.calling = m.Result, jsonrpc.ID{}
			}
			p.mu.Unlock()
		}
		return message, nil
	}
}

// line returns the next line without white space around it.
func (p *pipes) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
		if len(line)+len(part) > p.limit {
			return nil, p.fail(fmt.Errorf("it wrote a line over %d MiB", p.limit>>20))
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			p.lost()
			return nil, io.EOF // an incomplete line at the end is not a message
		}
	}
}

// ignore counts a line that is not a message.
func (p *pipes) ignore(line []byte) error {
	if p.strayLines == 0 {
		p.stray(string(line[:min(len(line), 4<<10)]))
	}
	p.strayLines++
	p.strayBytes += len(line)
	if p.strayLines > maxStrayLines || p.strayBytes > maxStray {
		return p.fail(errors.New("it wrote too much to its standard output that is no message"))
	}
	return nil
}

// Write sends a message. It blocks while the program does not read, until the program is killed.
func (p *pipes) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	if m, ok := message.(*jsonrpc.Request); ok && m.Method == "tools/call" {
		p.mu.Lock()
		p.calling, p.result = m.ID, nil
		p.mu.Unlock()
	}
	if _, err = p.program.Stdin.Write(append(data, '\n')); err != nil {
		p.lost()
	}
	return err
}

// lost records that the program ended or closed its files, unless this side ended the connection.
func (p *pipes) lost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = p.over || !p.ended
}

// takeResult returns the result of the last call of a tool, as it was sent.
func (p *pipes) takeResult() json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	raw := p.result
	p.result = nil
	return raw
}

// fail kills the program and records why.
func (p *pipes) fail(why error) error {
	p.mu.Lock()
	if p.failed == nil {
		p.failed = why
	}
	p.mu.Unlock()
	p.kill()
	return why
}

// failure returns why the connection broke: what the program did wrong, or that it ended. It returns nil if this side
// ended the connection.
func (p *pipes) failure() error {
	p.mu.Lock()
	failed, over := p.failed, p.over
	p.mu.Unlock()
	if failed != nil || !over {
		return failed
	}
	select {
	case <-p.program.Done():
		p.lastError()
		if over := p.program.Over(); over != "" {
			return fmt.Errorf("it was ended, because it had %s", over)
		}
		return fmt.Errorf("it ended with exit code %d", p.program.ExitCode())
	case <-time.After(p.grace):
		return nil
	}
}

// lastError waits until the whole standard error of the program, which has ended, was read.
func (p *pipes) lastError() {
	select {
	case <-p.stderr.Done():
	case <-time.After(endGrace): // another process has it open
	}
}

func (p *pipes) closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended || p.failed != nil
}

// kill kills the program with everything that it started.
func (p *pipes) kill() { p.program.Kill() }

// Close closes the program's standard input and gives it some time to end.
func (p *pipes) Close() error {
	p.mu.Lock()
	before := p.ended
	p.ended = true
	p.mu.Unlock()
	if before {
		return nil
	}
	p.program.Stdin.Close()
	select {
	case <-p.program.Done():
		p.lastError()
	case <-time.After(p.grace):
	}
	p.kill()
	return nil
}

// end kills the program, and removes its files. Nothing else is called afterwards.
func (p *pipes) end() {
	p.kill()
	<-p.stderr.Done()
	p.once.Do(p.forget)
}
