package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/process"
)

const (
	startTimeout = 60 * time.Second
	maxMessage   = 32 << 20 // bytes of a message of a server, and of an HTTP response
	maxPages     = 100      // of a list of tools
)

// A server is a connection to a server.
type server struct {
	session *sdk.ClientSession
	pipes   *pipes       // of a program, nil for a URL
	guard   *headerGuard // of a URL, nil for a program
	changed atomic.Bool  // the server said that its tools changed
	list    toolList
}

// connect starts the program of the resource, or contacts its URL.
func (r *resource) connect(ctx context.Context) (*server, error) {
	s := &server{}
	var transport sdk.Transport
	if r.sandbox != nil {
		p, err := r.startProgram()
		if err != nil {
			return nil, err
		}
		s.pipes, transport = p, p
	} else {
		guard, err := r.guard()
		if err != nil {
			return nil, err
		}
		s.guard = guard
		transport = &sdk.StreamableClientTransport{Endpoint: guard.url.String(), HTTPClient: &http.Client{Transport: guard, CheckRedirect: refuseRedirect},
			DisableStandaloneSSE: true, MaxEventSize: r.limits.message}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "git-domarkx", Version: "1"}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { s.changed.Store(true) },
	})
	var err error
	if s.session, err = client.Connect(ctx, transport, nil); err != nil {
		r.server = s // explain reads the server's standard error from r.server
		err = r.explain(ctx, "connecting", err)
		r.server = nil
		s.close()
		return nil, err
	}
	return s, nil
}

func (r *resource) startProgram() (*pipes, error) {
	name, _ := r.env.Config.Get("command")
	program := name.Text()
	if strings.ContainsRune(filepath.ToSlash(program), '/') {
		if !filepath.IsAbs(program) {
			program = filepath.Join(r.Path(), program)
		}
	} else {
		found, err := exec.LookPath(program)
		if err != nil {
			return nil, domarkx.NewToolError(domarkx.CodeNotFound, "the server needs the program %q, which is not on PATH; install it", program)
		}
		program = found
	}
	argv := []string{name.Text()}
	args, _ := r.env.Config.Get("args")
	for _, a := range args.Items() {
		argv = append(argv, a.Text())
	}
	for _, a := range argv {
		if strings.ContainsRune(a, 0) {
			return nil, domarkx.NewToolError(domarkx.CodeInvalid, "command or args contain a NUL byte, which no argument can hold")
		}
	}
	p, forget, err := r.sandbox.Start(r.Path(), program, argv)
	if err != nil {
		return nil, err
	}
	c := &pipes{program: p, in: bufio.NewReaderSize(p.Stdout, 64<<10), limit: r.limits.message, grace: r.limits.grace, forget: forget}
	c.stray = func(line string) {
		r.env.Warn(fmt.Sprintf("the server of %q wrote to its standard output what is no message, such as %q; it is ignored", r.env.Resource, shorten(plainText(r.env.Redact(line)), 80)))
	}
	c.stderr = process.Follow(p.Stderr, r.in(logName), nil, r.env.Redact)
	return c, nil
}

// tools asks for the tools, at most one more than maxTools.
func (s *server) tools(ctx context.Context) ([]*sdk.Tool, error) {
	s.changed.Store(false)
	var all []*sdk.Tool
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := s.session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tools[:min(len(page.Tools), maxTools+1-len(all))]...)
		if page.NextCursor == "" || len(all) > maxTools {
			return all, nil
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, fmt.Errorf("it lists them in more than %d pages", maxPages)
}

// call calls a tool and returns the result as the server sent it.
func (s *server) call(ctx context.Context, c domarkx.Call) (json.RawMessage, error) {
	result, err := s.session.CallTool(ctx, &sdk.CallToolParams{Name: c.Tool, Arguments: json.RawMessage(c.Arguments.JSON())})
	if err != nil {
		return nil, err
	}
	if s.pipes != nil {
		if raw := s.pipes.takeResult(); raw != nil {
			return raw, nil
		}
	}
	return json.Marshal(result)
}

// alive reports whether calls can be made.
func (s *server) alive() bool {
	if s.pipes == nil {
		return !s.guard.broken.Load()
	}
	select {
	case <-s.pipes.program.Done():
		return false
	default:
		return !s.pipes.closed()
	}
}

// kill kills the program, or ends all requests.
func (s *server) kill() {
	if s.pipes != nil {
		s.pipes.kill()
	}
	if s.guard != nil {
		s.guard.close()
	}
}

// close ends the connection, and the program with everything that it started.
func (s *server) close() {
	if s.session != nil {
		s.session.Close() // fails if the server ended before
	}
	if s.pipes != nil {
		s.pipes.end()
	}
	if s.guard != nil {
		s.guard.close()
	}
}

// rejectedByTransport is the code of the SDK's error for a request that was not answered.
const rejectedByTransport = -32005

// explain returns the error of a request to a server, with what the server said.
func (r *resource) explain(ctx context.Context, doing string, err error) error {
	var tool *domarkx.ToolError
	var refused *jsonrpc.Error
	switch {
	case err == nil || errors.As(err, &tool):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refused) && refused.Code != rejectedByTransport:
		code := domarkx.CodeFailed
		if refused.Code == jsonrpc.CodeInvalidParams {
			code = domarkx.CodeInvalid
		}
		return domarkx.NewToolError(code, "the server refused %s: %s", doing, shorten(plainText(r.env.Redact(refused.Message)), maxErrorText))
	}
	if r.server != nil && r.server.pipes != nil {
		if why := r.server.pipes.failure(); why != nil {
			err = why
		}
	}
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		err = fmt.Errorf("its answer has %s at %q, which the protocol does not allow there", shorten(r.env.Redact(other.Value), 80), other.Field)
	}
	if r.server != nil && r.server.guard != nil {
		r.server.guard.broken.Store(true)
		var request *url.Error // the SDK puts more words before it
		if errors.As(err, &request) {
			err = request
		}
	}
	return domarkx.NewToolError(domarkx.CodeBroken, "the server failed at %s: %s%s", doing, shorten(plainText(r.env.Redact(err.Error())), maxErrorText), r.lastWords())
}

// maxErrorText bounds a text of the server in an error, in bytes.
const maxErrorText = 16 << 10

// lastWords returns the end of the standard error of a program, for an error.
func (r *resource) lastWords() string {
	if r.server == nil || r.server.pipes == nil {
		return ""
	}
	if words := r.server.pipes.stderr.LastWords(); words != "" {
		return "; it wrote to its standard error: " + words
	}
	return ""
}
