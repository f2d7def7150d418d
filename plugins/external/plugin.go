package external

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// protocol is the version of the protocol.
const protocol = 1

// Options set the timeouts; 0 selects those of the protocol.
type Options struct {
	Describe time.Duration // for initialize
	Patience time.Duration // time without an answer or progress, except for execute_tool
	Shutdown time.Duration // for the answer to shutdown, and again for the exit
}

// Plugin is an external program.
type Plugin struct {
	kind, path string
	options    Options
}

// New returns the plugin of a type. path is the absolute path of its program, which is started
// when it is needed.
func New(kind, path string, o Options) Plugin {
	return Plugin{kind, path, Options{
		Describe: cmp.Or(o.Describe, 10*time.Second), Patience: cmp.Or(o.Patience, 30*time.Second), Shutdown: cmp.Or(o.Shutdown, 5*time.Second),
	}}
}

// Type returns the type.
func (p Plugin) Type() string { return p.kind }

// Describe starts the program and asks for its description.
func (p Plugin) Describe(ctx context.Context) (domarkx.Description, error) {
	c, err := start(p.kind, p.path, string(filepath.Separator), "", domarkx.Limits{}, nil, nil)
	if err != nil {
		return domarkx.Description{}, err
	}
	defer func() {
		if c.alive() {
			c.end(errClosed)
		}
	}()
	return p.initialize(ctx, c)
}

// initialize sends the first request.
func (p Plugin) initialize(ctx context.Context, c *conversation) (domarkx.Description, error) {
	v, err := c.call(ctx, "initialize", jsonvalue.ObjectOf("protocol", protocol, "type", p.kind), p.options.Describe)
	if err != nil {
		return domarkx.Description{}, err
	}
	d, err := p.describe(v)
	if err != nil {
		return d, c.fail("its answer to initialize: %v", err)
	}
	return d, nil
}

// Open creates the resource or opens the existing one.
func (p Plugin) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	r := &resource{plugin: p, env: env}
	if err := r.read(); err != nil {
		return nil, err
	}
	if err := removeDirectory(r.in(stagingName)); err != nil {
		return nil, err
	}
	if !r.state.Made {
		if err := removeDirectory(r.in(dataName)); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(r.in(dataName), 0o700); err != nil {
		return nil, err
	}
	if _, err := r.talk(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// removeDirectory removes a directory with its content, whatever modes that has. Of a symbolic
// link it removes only the link.
func removeDirectory(path string) error {
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil && info.IsDir() {
		err = dirversion.Empty(path)
	}
	if err != nil {
		return fmt.Errorf("removing %q: %w", path, err)
	}
	return os.RemoveAll(path)
}
