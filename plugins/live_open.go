package plugins

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A ResourceError reports that a resource cannot be opened, loaded or committed on this
// machine: its plugin is missing or refuses, or something that it needs is missing.
type ResourceError struct {
	Doing    string // such as "opening"
	Resource string // id
	Err      error
}

// Error returns the message, which names the resource.
func (e *ResourceError) Error() string {
	return fmt.Sprintf("%s resource %q: %v", e.Doing, e.Resource, e.Err)
}

// Unwrap returns e.Err.
func (e *ResourceError) Unwrap() error { return e.Err }

// open opens the resource at an index of the state, and creates it if it was not created
// before.
func (l *Live) open(ctx context.Context, i int) error {
	e, r := &l.state.Resources[i], l.resources[i]
	if r.live != nil {
		return nil
	}
	k, err := l.m.resourceType(ctx, e.Type)
	if err != nil {
		return &ResourceError{"opening", e.ID, err}
	}
	if err := l.lockPath(e); err != nil {
		return &ResourceError{"opening", e.ID, err}
	}
	live, secrets, err := l.openPlugin(ctx, k, e)
	if err != nil {
		return &ResourceError{"opening", e.ID, err}
	}
	r.resourceType, r.live, r.secrets, r.err, r.busy, r.own = k, live, secrets, nil, nil, nil
	if e.Copy {
		if err := l.copyPath(ctx, i); err != nil {
			return &ResourceError{"copying the content at the path of", e.ID, err}
		}
	}
	path := ""
	if p, ok := live.(domarkx.HostPath); ok {
		path = p.Path()
	}
	if e.Created && e.Path == path {
		return nil
	}
	e.Created, e.Path = true, path
	return l.save()
}

// openPlugin asks a plugin to open a resource. The returned redactor must be applied to later
// errors of the plugin; the error of openPlugin is redacted already.
func (l *Live) openPlugin(ctx context.Context, k *resourceType, e *entry) (domarkx.Resource, *redactor, error) {
	secrets := &redactor{}
	live, err := l.openRedacting(ctx, k, e, secrets)
	return live, secrets, secrets.error(err)
}

func (l *Live) openRedacting(ctx context.Context, k *resourceType, e *entry, secrets *redactor) (domarkx.Resource, error) {
	config := pluginConfig(e.Config)
	if found := check(k.config, config); len(found) > 0 {
		return nil, fmt.Errorf("config: %w", found[0])
	}
	expanded, err := l.m.expand(config, secrets)
	if err != nil {
		return nil, err
	}
	if found := check(k.config, expanded); len(found) > 0 {
		return nil, fmt.Errorf("config: %s: the value from the environment does not match the schema: %w", found[0].Pointer, domarkx.ErrInvalid)
	}
	dir := filepath.Join(l.dir, e.Directory)
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := l.m.config
	limits, err := c.Limits()
	if err != nil {
		return nil, err
	}
	allow := limits.Allow
	allow.DSNs, allow.URLs = l.m.expandAllowed(allow.DSNs), l.m.expandAllowed(allow.URLs)
	top, err := l.m.workTreeOf(e)
	if err != nil {
		return nil, err
	}
	env := domarkx.Env{
		Workspace: l.state.Name, Resource: e.ID, Config: expanded, Written: config, Dir: dir, Private: e.Private,
		WorkTree: top, Forbidden: limits.Forbidden, StateDir: c.StateDir, Allow: allow, Limits: limits.Bounds,
		Redact: secrets.redact, Warn: func(message string) { l.m.warn(secrets.redact(message)) },
	}
	return guard(ctx, c.Grace, nil, func(ctx context.Context) (domarkx.Resource, error) {
		live, err := k.plugin.Open(ctx, env)
		if err == nil && live == nil {
			err = &domarkx.ToolError{Code: domarkx.CodeBroken, Message: "the plugin opened nothing"}
		}
		if err == nil && ctx.Err() != nil {
			live.Close(context.WithoutCancel(ctx)) // nobody may be waiting for it any more
			return nil, ctx.Err()
		}
		return live, err
	})
}

// add adds a resource to the state without creating it.
func (l *Live) add(spec domarkx.ResourceSpec) int {
	l.state.Next++
	l.state.Resources = append(l.state.Resources, entry{
		ResourceSpec: spec, Directory: strconv.Itoa(l.state.Next), Private: l.state.Private, Dirty: true,
	})
	l.resources = append(l.resources, &resource{})
	return len(l.resources) - 1
}

// removeAt tears a resource down and removes it from the state.
func (l *Live) removeAt(ctx context.Context, i int) error {
	if !l.state.Resources[i].Gone {
		l.state.Resources[i].Gone = true
		if err := l.save(); err != nil {
			return err
		}
	}
	if err := l.tearDownAt(ctx, i); err != nil {
		return err
	}
	l.state.Resources = append(l.state.Resources[:i:i], l.state.Resources[i+1:]...)
	l.resources = append(l.resources[:i:i], l.resources[i+1:]...)
	return l.save()
}

// tearDownAt tears a resource down and removes its directory.
func (l *Live) tearDownAt(ctx context.Context, i int) error {
	e, r := l.state.Resources[i], l.resources[i]
	dir := filepath.Join(l.dir, e.Directory)
	if r.live == nil && !isVacant(dir) {
		k, err := l.m.resourceType(ctx, e.Type)
		if err == nil {
			r.live, r.secrets, err = l.openPlugin(ctx, k, &e)
			r.resourceType = k
		}
		if err != nil && e.Created {
			l.m.warn(fmt.Sprintf("workspace %q: resource %q is removed without its plugin: %v", l.state.Name, e.ID, err))
		}
	}
	if r.live != nil {
		err := l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error { return live.TearDown(ctx) })
		if err != nil && (!l.forced || ctx.Err() != nil) {
			return fmt.Errorf("removing resource %q: %w", e.ID, err)
		}
		if err != nil {
			l.m.warn(fmt.Sprintf("workspace %q: resource %q is removed without its plugin: %v", l.state.Name, e.ID, err))
		}
		r.live, r.err = nil, errors.New("it was removed")
	}
	return errors.Join(removeAll(dir+copySuffix), removeAll(dir)) // the copy was left by a killed process
}

// finishRemovals finishes the removals of a killed process.
func (l *Live) finishRemovals(ctx context.Context) error {
	for i := len(l.state.Resources) - 1; i >= 0; i-- {
		if !l.state.Resources[i].Gone {
			continue
		}
		if l.onlyDirectories { // removing it may start programs
			return fmt.Errorf("resource %q is being removed: %w", l.state.Resources[i].ID, domarkx.ErrConflict)
		}
		if err := l.removeAt(ctx, i); err != nil {
			return err
		}
	}
	return nil
}
