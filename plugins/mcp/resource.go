package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/directory"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
)

// A resource is a server with the directory in which it works.
type resource struct {
	*directory.Resource
	env       domarkx.Env
	limits    limits
	sandbox   *localshell.Sandbox // nil for a URL
	server    *server             // nil while none runs
	announced *toolList           // what Tools returned, nil before
}

var (
	_ domarkx.ToolLister      = (*resource)(nil)
	_ domarkx.ChangeCommitter = (*resource)(nil)
)

// Tools returns the tools of the server, which it starts.
func (r *resource) Tools(ctx context.Context) ([]domarkx.Tool, error) {
	if r.announced == nil {
		s, err := r.start(ctx)
		if err != nil {
			return nil, err
		}
		r.announce(s)
	}
	return r.announced.tools, nil
}

func (r *resource) announce(s *server) {
	list := s.list // a copy, since the server may change its list
	r.announced = &list
}

// start returns a server that runs and has listed its tools.
func (r *resource) start(ctx context.Context) (*server, error) {
	if r.server != nil && r.server.alive() {
		if !r.server.changed.Swap(false) {
			return r.server, nil
		}
		if err := r.list(ctx, r.server); err != nil {
			r.server.changed.Store(true)
			return nil, err
		}
		return r.server, nil
	}
	r.end()
	limited, cancel := context.WithTimeout(ctx, r.limits.start)
	defer cancel()
	s, err := r.connect(limited)
	if err == nil {
		r.server = s
		err = r.list(limited, s)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = domarkx.NewToolError(domarkx.CodeTimeout, "the server did not list its tools within %v%s", r.limits.start, r.lastWords())
	}
	if err != nil {
		r.end()
		return nil, err
	}
	return s, nil
}

// list has a server list its tools, and records them.
func (r *resource) list(ctx context.Context, s *server) error {
	listed, err := s.tools(ctx)
	if err != nil {
		return r.explain(ctx, "listing its tools", err)
	}
	if len(listed) > maxTools {
		r.env.Warn(fmt.Sprintf("the server of %q has more than %d tools; the others are left out", r.env.Resource, maxTools))
		listed = listed[:maxTools]
	}
	s.list = newToolList(listed, r.env.Redact, func(m string) { r.env.Warn(fmt.Sprintf("resource %q: %s", r.env.Resource, m)) })
	return r.recordTools(s.list.text)
}

// Execute calls a tool of the server.
func (r *resource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	if err := ctx.Err(); err != nil {
		return domarkx.Result{}, err
	}
	s, err := r.start(ctx)
	if err != nil {
		return domarkx.Result{}, err
	}
	if r.announced == nil {
		r.announce(s)
	}
	if !bytes.Equal(r.announced.text, s.list.text) {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeRefused, "the server changed its tools since they were looked at; repeat the command to look at them again")
	}
	limited, cancel := context.WithTimeout(ctx, r.limits.call)
	defer cancel()
	answer, err := s.call(limited, call)
	if err != nil && limited.Err() != nil {
		s.kill() // the server may still work on the call
		words := ""
		if s.pipes != nil {
			words = " and was killed" + r.lastWords()
		}
		r.end()
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return domarkx.Result{}, ctx.Err()
		}
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeTimeout, "the server did not answer in time%s", words)
	}
	if err != nil {
		return domarkx.Result{}, r.explain(ctx, "calling "+call.Tool, err)
	}
	return r.result(answer)
}

// end ends the server, if one runs.
func (r *resource) end() {
	if r.server == nil {
		return
	}
	r.server.close()
	r.server = nil
}

// Close ends the server, with everything that it started.
func (r *resource) Close(ctx context.Context) error {
	r.end()
	return r.Resource.Close(ctx)
}

// TearDown ends the server and removes the resource's own files.
func (r *resource) TearDown(ctx context.Context) error {
	r.end()
	if r.sandbox != nil {
		r.sandbox.TearDown()
	}
	errs := []error{r.Resource.TearDown(ctx)}
	for _, name := range []string{toolsName, digestName, logName} {
		errs = append(errs, atomicfile.Remove(r.in(name)))
	}
	return errors.Join(errs...)
}
