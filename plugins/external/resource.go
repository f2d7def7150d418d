package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// A resource is a resource of an external program.
type resource struct {
	plugin Plugin
	env    domarkx.Env
	state  state
	c      *conversation // nil before the program is started
}

// talk returns the conversation with the program, and starts the program if necessary.
func (r *resource) talk(ctx context.Context) (*conversation, error) {
	if r.c.alive() {
		return r.c, nil
	}
	tell := func(line string) {
		if r.env.Warn != nil {
			r.env.Warn(fmt.Sprintf("plugin %q: %s", r.plugin.kind, line))
		}
	}
	c, err := start(r.plugin.kind, r.plugin.path, r.in(dataName), r.in(logName), r.env.Limits, tell, r.env.Redact)
	if err != nil {
		return nil, err
	}
	r.c = c
	if err := r.create(ctx); err != nil {
		if c.alive() {
			c.end(err)
		}
		return nil, err
	}
	return c, nil
}

// create sends the first two requests of a conversation.
func (r *resource) create(ctx context.Context) error {
	if _, err := r.plugin.initialize(ctx, r.c); err != nil {
		return err
	}
	params := r.params("workspace", r.env.Workspace, "config", r.env.Config, "dir", r.in(dataName), "exists", r.state.Made, "private", r.env.Private)
	if r.env.WorkTree != "" {
		params = params.With("work_tree", jsonvalue.StringValue(r.env.WorkTree))
	}
	if _, err := r.c.call(ctx, "create_resource", params, r.plugin.options.Patience); err != nil {
		return err
	}
	return r.keep(state{Made: true, Version: r.state.Version})
}

// params returns the parameters of a request about the resource.
func (r *resource) params(pairs ...any) jsonvalue.Value {
	return jsonvalue.ObjectOf(append([]any{"resource", r.env.Resource}, pairs...)...)
}

func (r *resource) Execute(ctx context.Context, call domarkx.Call) (result domarkx.Result, err error) {
	err = r.staged(ctx, func(c *conversation, s *staging) error {
		v, err := c.call(ctx, "execute_tool", r.params("tool", call.Tool, "arguments", call.Arguments, "attachments", s.path), 0)
		if err != nil {
			return err
		}
		var ok bool
		if result.Value, ok = v.Get("result"); !ok {
			return c.fail(`its answer to execute_tool has no "result"`)
		}
		if result.Attachment, err = s.attachment(v); err != nil {
			return c.fail("its answer to execute_tool: %v", err)
		}
		return nil
	})
	return result, err
}

// Run runs a block of code with the tool run_code.
func (r *resource) Run(ctx context.Context, language, code string) (domarkx.Result, error) {
	arguments := jsonvalue.ObjectOf("language", language, "code", code)
	return r.Execute(ctx, domarkx.Call{Tool: "run_code", Arguments: arguments})
}

// maxVersion limits the identifier of a state that a plugin returns, in bytes.
const maxVersion = 1 << 10

// version sends a request whose answer is the identifier of the current state.
func (r *resource) version(ctx context.Context, c *conversation, method string, params jsonvalue.Value) (string, error) {
	v, err := c.call(ctx, method, params, r.plugin.options.Patience)
	if err != nil {
		return "", err
	}
	version, _ := v.Get("version")
	if version.Kind() != jsonvalue.String || version.Text() == "" || len(version.Text()) > maxVersion {
		return "", c.fail(`its answer to %s has no "version", expected a text of at most %d bytes`, method, maxVersion)
	}
	return version.Text(), nil
}

// Changed requests the identifier of the current state and compares it with the last one.
func (r *resource) Changed(ctx context.Context) (bool, error) {
	if r.state.Version == "" {
		return true, nil
	}
	c, err := r.talk(ctx)
	if err != nil {
		return false, err
	}
	version, err := r.version(ctx, c, "get_version", r.params())
	return version != r.state.Version, err
}

// Commit asks the plugin to write its state to a directory, and stores the files.
func (r *resource) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	return r.staged(ctx, func(c *conversation, s *staging) error { return r.commit(ctx, c, s, w) })
}

// staged calls do with a conversation and a new staging directory, and removes the directory
// afterwards.
func (r *resource) staged(ctx context.Context, do func(*conversation, *staging) error) error {
	c, err := r.talk(ctx)
	if err != nil {
		return err
	}
	s, err := r.stage()
	if err != nil {
		return err
	}
	return errors.Join(do(c, s), s.remove())
}

func (r *resource) commit(ctx context.Context, c *conversation, s *staging, w domarkx.VersionWriter) error {
	version, err := r.version(ctx, c, "commit_version", r.params("path", s.path))
	if err != nil {
		return err
	}
	if err := s.whole(); err != nil {
		return c.fail("what commit_version left: %v", err)
	}
	left := "" // last warning about files that the version omits
	directory, err := dirversion.Open(dirversion.Config{Path: s.path, Warn: func(m string) { left = m }})
	if err != nil {
		return err
	}
	defer directory.Close()
	if err := directory.Commit(ctx, plain{w}); err != nil {
		if errors.Is(err, domarkx.ErrInvalid) {
			return c.fail("what commit_version left cannot be a version: %v", err)
		}
		return err
	}
	if left != "" {
		return c.fail("what commit_version left cannot be a version: %s", left)
	}
	after, err := r.version(ctx, c, "get_version", r.params())
	if err != nil {
		return err
	}
	if after != version {
		return c.fail("commit_version said that the version is %q, and get_version says %q", version, after)
	}
	return r.keep(state{Made: true, Version: version})
}

// Load passes a version to the plugin in a directory.
func (r *resource) Load(ctx context.Context, from domarkx.VersionReader, version string) error {
	if err := admit(ctx, from, version); err != nil {
		return err
	}
	return r.staged(ctx, func(c *conversation, s *staging) error { return r.load(ctx, c, s, from, version) })
}

func (r *resource) load(ctx context.Context, c *conversation, s *staging, from domarkx.VersionReader, version string) error {
	if err := dirversion.Write(ctx, from, version, s.path, r.env.Warn); err != nil {
		return err
	}
	if err := r.keep(state{Made: true}); err != nil {
		return err
	}
	if _, err := c.call(ctx, "load_version", r.params("path", s.path, "version", version), r.plugin.options.Patience); err != nil {
		return err
	}
	after, err := r.version(ctx, c, "get_version", r.params())
	if err != nil {
		return err
	}
	return r.keep(state{Made: true, Version: after})
}

// Close stops the program.
func (r *resource) Close(ctx context.Context) error {
	if r.c.alive() {
		r.c.shutdown(ctx, r.plugin.options.Shutdown)
	}
	return nil
}

// TearDown asks the plugin to remove everything that it created elsewhere, and removes its directory.
func (r *resource) TearDown(ctx context.Context) error {
	c, err := r.talk(ctx)
	if err == nil {
		_, err = c.call(ctx, "tear_down", r.params(), r.plugin.options.Patience)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && r.env.Warn != nil {
		// What a broken plugin created elsewhere is unknown.
		r.env.Warn(fmt.Sprintf("resource %q is removed, but its plugin could not remove what it may have created elsewhere: %s", r.env.Resource, strings.TrimSpace(err.Error())))
	}
	if err := r.Close(ctx); err != nil {
		return err
	}
	for _, name := range []string{stagingName, dataName} {
		if err := removeDirectory(r.in(name)); err != nil {
			return err
		}
	}
	for _, name := range []string{logName, stateName} {
		if err := os.Remove(r.in(name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return atomicfile.Sweep(r.env.Dir)
}
