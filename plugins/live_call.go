package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/plugins/permit"
)

// maxResultDepth bounds how deep a result may be nested, since documents contain results.
const maxResultDepth = jsonvalue.MaxDepth - 100

// allows returns an error unless a permit is one to execute something in this workspace, and what it
// permits is of the right kind.
func (l *Live) allows(p permit.Permit, kind bool) error {
	if p.Right() == permit.None || p.Right() == permit.Live || p.What().Workspace != l.state.Name || !kind {
		return fmt.Errorf("workspace %q: %w", l.state.Name, errNotPermitted)
	}
	return nil
}

// Call makes the call of a permit. The error is a [*domarkx.ToolError] for an unknown
// resource or tool, arguments that do not match the tool's schema, a plugin that crashes or
// does not answer in time, and errors of the tool itself.
//
// The timeout is the argument "timeout" in seconds, if the tool's schema has one, otherwise
// [Options].Timeout. For a [domarkx.ToolLister] the argument is any other.
func (l *Live) Call(ctx context.Context, p permit.Permit) (domarkx.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := p.What()
	if err := l.allows(p, what.Call != nil); err != nil {
		return domarkx.Result{}, err
	}
	call := *what.Call
	i, err := l.checkCall(ctx, what.Resource, call)
	if err != nil {
		return domarkx.Result{}, err
	}
	timeout := l.timeoutOf(i)
	if own, ok := OwnTimeout(call.Arguments); ok && l.resources[i].own == nil {
		timeout = own
	}
	return l.result(ctx, i, timeout, func(ctx context.Context, live domarkx.Resource) (domarkx.Result, error) {
		return live.Execute(ctx, call)
	})
}

// CheckCall returns the error with which Call would reject a call, without calling the tool.
func (l *Live) CheckCall(ctx context.Context, resource string, call domarkx.Call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.checkCall(ctx, resource, call)
	return err
}

// Tools returns the tools of a resource, and whether they are its own rather than those of
// its type: see [domarkx.ToolLister]. Errors are those of Call.
func (l *Live) Tools(ctx context.Context, resource string) (tools []domarkx.Tool, own bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.callee(resource)
	if err != nil {
		return nil, false, err
	}
	set, err := l.tools(ctx, i)
	return set.list, l.resources[i].own != nil, err
}

// Defaults completes the arguments of a call so that it can be replayed. Callers record the
// result. Errors are those of Call.
func (l *Live) Defaults(ctx context.Context, resource string, call domarkx.Call) (domarkx.Call, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.checkCall(ctx, resource, call)
	if err != nil {
		return call, err
	}
	d, ok := l.resources[i].live.(domarkx.ArgumentDefaulter)
	if !ok {
		return call, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.timeoutOf(i))
	defer cancel()
	err = l.use(ctx, i, func(ctx context.Context, _ domarkx.Resource) error {
		arguments, err := d.Defaults(ctx, call.Tool, call.Arguments)
		if err == nil {
			call.Arguments = arguments
		}
		return err
	})
	return call, toolError(err)
}

// Run runs the code of a permit in the first resource that supports its language, and also returns
// the id of that resource. Errors are those of Call.
func (l *Live) Run(ctx context.Context, p permit.Permit) (string, domarkx.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	code := p.What().Code
	if err := l.allows(p, code != nil); err != nil {
		return "", domarkx.Result{}, err
	}
	i := l.runner(code.Language)
	if i < 0 {
		return "", domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeNoResource, Message: l.noRunner(code.Language)}
	}
	id := l.state.Resources[i].ID
	r, err := l.result(ctx, i, l.timeoutOf(i), func(ctx context.Context, live domarkx.Resource) (domarkx.Result, error) {
		return live.(domarkx.Runner).Run(ctx, code.Language, code.Text)
	})
	return id, r, err
}

// CanRun returns an error unless a resource runs blocks in a language.
func (l *Live) CanRun(language string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runner(language) >= 0
}

func (l *Live) runner(language string) int {
	return slices.IndexFunc(l.resources, func(r *resource) bool {
		if r.live == nil || !slices.Contains(r.resourceType.description.Languages, language) {
			return false
		}
		_, ok := r.live.(domarkx.Runner)
		return ok
	})
}

func (l *Live) noRunner(language string) string {
	var languages []string
	for _, r := range l.resources {
		if _, ok := r.live.(domarkx.Runner); ok {
			languages = append(languages, r.resourceType.description.Languages...)
		}
	}
	if len(languages) == 0 {
		return fmt.Sprintf("no resource of the workspace runs code, which a block in %q needs", language)
	}
	slices.Sort(languages)
	return fmt.Sprintf("no resource of the workspace runs %q here, only %s; is its interpreter installed?", language, strings.Join(slices.Compact(languages), ", "))
}

// callee returns the index of a resource that is open for calls.
func (l *Live) callee(id string) (int, error) {
	if err := l.unfinished(); err != nil {
		return -1, &domarkx.ToolError{Code: domarkx.CodeBroken, Message: err.Error()}
	}
	i := slices.IndexFunc(l.state.Resources, func(e entry) bool { return e.ID == id })
	if i < 0 {
		ids := make([]string, len(l.state.Resources))
		for i, e := range l.state.Resources {
			ids[i] = strconv.Quote(e.ID)
		}
		return i, &domarkx.ToolError{Code: domarkx.CodeNoResource, Message: fmt.Sprintf("the workspace has no resource %q, only %s", id, strings.Join(ids, ", "))}
	}
	if r := l.resources[i]; r.live == nil {
		return i, &domarkx.ToolError{Code: domarkx.CodeBroken, Message: fmt.Sprintf("resource %q is not available: %v", id, r.err)}
	}
	return i, nil
}

// tools returns the tools of an open resource.
func (l *Live) tools(ctx context.Context, i int) (toolSet, error) {
	r := l.resources[i]
	lister, ok := r.live.(domarkx.ToolLister)
	if !ok {
		return r.resourceType.tools, nil
	}
	if r.own != nil {
		return *r.own, nil
	}
	if err := ctx.Err(); err != nil {
		return toolSet{}, err
	}
	var list []domarkx.Tool // read only when Tools returned, not when it was abandoned
	err := l.use(ctx, i, func(ctx context.Context, _ domarkx.Resource) (err error) {
		list, err = lister.Tools(ctx)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return toolSet{}, ctx.Err()
	}
	if err != nil {
		return toolSet{}, toolError(err)
	}
	set := newToolSet(list, func(t domarkx.Tool) (*schema.Schema, error) { return schema.CompileForeign(t.Schema.JSON()), nil })
	r.own = &set
	return set, nil
}

// timeoutOf returns the timeout of calls of a resource.
func (l *Live) timeoutOf(i int) time.Duration {
	return cmp.Or(l.timeout, l.resources[i].resourceType.description.CallTimeout, l.m.config.Timeout)
}

// checkCall returns the index of the resource of a call.
func (l *Live) checkCall(ctx context.Context, id string, call domarkx.Call) (int, error) {
	i, err := l.callee(id)
	if err != nil {
		return i, err
	}
	tools, err := l.tools(ctx, i)
	if err != nil {
		return i, err
	}
	compiled, ok := tools.schemas[call.Tool]
	if !ok {
		names := make([]string, len(tools.list))
		for i, t := range tools.list {
			names[i] = t.Name
		}
		return i, &domarkx.ToolError{Code: domarkx.CodeUnknownTool, Message: fmt.Sprintf("resource %q has no tool %q, only %s", id, call.Tool, strings.Join(names, ", "))}
	}
	s, err := compiled()
	if err != nil {
		return i, &domarkx.ToolError{Code: domarkx.CodeBroken, Message: err.Error()}
	}
	if found := check(s, call.Arguments); len(found) > 0 {
		messages := make([]string, len(found))
		for i, e := range found {
			messages[i] = "/arguments" + e.Pointer + ": " + e.Msg
		}
		return i, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: strings.Join(messages, "; ")}
	}
	return i, nil
}

// OwnTimeout returns the argument "timeout" of a call, in seconds.
func OwnTimeout(arguments jsonvalue.Value) (time.Duration, bool) {
	v, ok := arguments.Get("timeout")
	if !ok || v.Kind() != jsonvalue.Number {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(v.Text(), 64)
	if err != nil || seconds <= 0 {
		return 0, false
	}
	const longest = math.MaxInt64 / 4
	return time.Duration(min(seconds*float64(time.Second), longest)), true
}

// result runs plugin code that returns a result.
func (l *Live) result(ctx context.Context, i int, timeout time.Duration, f func(context.Context, domarkx.Resource) (domarkx.Result, error)) (domarkx.Result, error) {
	if err := ctx.Err(); err != nil {
		return domarkx.Result{}, err
	}
	deadline, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	l.until, _ = deadline.Deadline()
	var result domarkx.Result
	err := l.use(deadline, i, func(ctx context.Context, live domarkx.Resource) error {
		r, err := f(ctx, live)
		if err == nil && r.Value.Depth() > maxResultDepth {
			err = &domarkx.ToolError{Code: domarkx.CodeBroken, Message: fmt.Sprintf("the result is nested deeper than %d", maxResultDepth)}
		}
		if err != nil && r.Attachment != nil {
			r.Attachment.Close()
		}
		if err == nil {
			result = r
		}
		return err
	})
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return domarkx.Result{}, ctx.Err()
	case errors.Is(err, errAbandoned) && deadline.Err() != nil:
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeTimeout, Message: fmt.Sprintf("no answer after %v, and the plugin did not stop when its time ran out", timeout)}
	case errors.Is(err, context.DeadlineExceeded):
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeTimeout, Message: fmt.Sprintf("no answer after %v", timeout)}
	}
	return domarkx.Result{}, toolError(err)
}

func toolError(err error) error {
	var tool *domarkx.ToolError
	if err == nil || errors.As(err, &tool) {
		return err
	}
	return &domarkx.ToolError{Code: domarkx.CodeFailed, Message: err.Error()}
}

// use runs plugin code on a resource. It refuses while code that was abandoned still runs.
func (l *Live) use(ctx context.Context, i int, f func(context.Context, domarkx.Resource) error) error {
	r := l.resources[i]
	if r.live == nil {
		return fmt.Errorf("resource %q is not open: %w", l.state.Resources[i].ID, cmp.Or(r.err, domarkx.ErrNotFound))
	}
	if r.busy != nil {
		select {
		case <-r.busy:
		default:
			return fmt.Errorf("resource %q: %w", l.state.Resources[i].ID, errAbandoned)
		}
	}
	r.busy = make(chan struct{})
	_, err := guard(ctx, l.m.config.Grace, r.busy, nothing(func(ctx context.Context) error { return f(ctx, r.live) }))
	return r.secrets.error(err)
}
