package external

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// protocol is the version of the protocol.
const protocol = 1

// Options say how patient a plugin's host is; 0 stands for the protocol's times.
type Options struct {
	Describe time.Duration // for initialize
	Patience time.Duration // without an answer or progress, for all but execute_tool
	Shutdown time.Duration // for shutdown, and then for the end
}

// Plugin is a program.
type Plugin struct {
	kind, path string
	options    Options
}

// New returns the plugin of a type that a program, by its absolute path, is. It is
// started when it is needed.
func New(kind, path string, o Options) Plugin {
	if o.Describe == 0 {
		o.Describe = 10 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	if o.Shutdown == 0 {
		o.Shutdown = 5 * time.Second
	}
	return Plugin{kind, path, o}
}

// Type returns the type.
func (p Plugin) Type() string { return p.kind }

// Describe starts the program, and asks it.
func (p Plugin) Describe(ctx context.Context) (domarkx.Description, error) {
	c, err := start(p.kind, p.path, string(filepath.Separator), "", nil, nil)
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

// initialize makes the first request.
func (p Plugin) initialize(ctx context.Context, c *conversation) (domarkx.Description, error) {
	params := object{}.with("protocol", domarkx.NumberValue(strconv.Itoa(protocol))).text("type", p.kind)
	v, err := c.call(ctx, "initialize", params, p.options.Describe)
	if err != nil {
		return domarkx.Description{}, err
	}
	d, err := p.describe(v)
	if err != nil {
		return d, c.fail("its answer to initialize: %v", err)
	}
	return d, nil
}

// Open makes the resource, or takes up the one that is there.
func (p Plugin) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	r := &resource{plugin: p, env: env}
	if err := r.read(); err != nil {
		return nil, err
	}
	if err := removeFolder(r.in(stagingName)); err != nil {
		return nil, err
	}
	if !r.state.Made {
		if err := removeFolder(r.in(dataName)); err != nil {
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

// removeFolder removes a folder with all in it, whatever modes that has; a symbolic
// link is only removed itself.
func removeFolder(path string) error {
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
