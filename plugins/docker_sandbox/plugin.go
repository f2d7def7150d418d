package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/containerd/errdefs"
	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/moby/moby/client"
)

// A Plugin has the resources of type docker_sandbox.
type Plugin struct {
	// Agent is the path of a program that calls [AgentMain]; "" is the running one.
	Agent string
}

// New returns the plugin with the running program as the agent.
func New() *Plugin { return &Plugin{} }

// AgentMain makes a program the agent in a container when its arguments
// (os.Args) say so; ok reports whether they did. The program then exits with the
// code.
func AgentMain(args []string) (code int, ok bool) {
	if len(args) != 2 || args[1] != agentCommand || os.Getpid() != 1 {
		return 0, false
	}
	if err := agent.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// Type is docker_sandbox.
func (*Plugin) Type() string { return "docker_sandbox" }

// Describe needs no engine.
func (*Plugin) Describe(context.Context) (domarkx.Description, error) { return description() }

// Open makes the container of a resource, or takes it up.
func (p *Plugin) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	c, err := parseConfig(env)
	if err != nil {
		return nil, err
	}
	e, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	r := &resource{env: env, config: c, engine: e}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.stop(ctx), e.Client.Close())
	}
	return r, nil
}

func (p *Plugin) connect(ctx context.Context) (*engine, error) {
	path := p.Agent
	if path == "" {
		own, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the program for the container: %w", err)
		}
		path = own
	}
	agent, err := findProgram(path)
	if err != nil {
		return nil, err
	}
	return connect(ctx, agent)
}

// open finds the container of the resource, or makes it.
func (r *resource) open(ctx context.Context) error {
	var err error
	if r.state, err = readState(r.env.Dir); err != nil {
		return err
	}
	if err := r.engine.sweep(ctx, r.state.Instance, r.state.Container); err != nil {
		return err
	}
	if err := forgetOthers(r.env.Dir, r.state.Container); err != nil {
		return err
	}
	var found client.ContainerInspectResult
	fresh := r.state.Container == ""
	if !fresh {
		found, err = r.engine.ContainerInspect(ctx, r.state.Container, client.ContainerInspectOptions{})
		fresh = errdefs.IsNotFound(err) && !r.state.Dirty && !r.hasLast() // nothing was in it yet
	}
	if fresh {
		if r.image, err = r.engine.image(ctx, r.config.image); err != nil {
			return err
		}
		return r.make(ctx)
	}
	if errdefs.IsNotFound(err) {
		return r.miss(ctx)
	}
	if err != nil {
		return r.engine.explain(err)
	}
	if found.Container.State != nil && found.Container.State.Running {
		// Of a process that was killed this moment; its end may not have come through yet.
		if err := r.engine.kill(ctx, r.state.Container); err != nil {
			return err
		}
	}
	if r.image, err = r.engine.image(ctx, r.state.ImageID); errors.Is(err, domarkx.ErrNotFound) {
		return fmt.Errorf("image %q, of which container %.12s was made (%s), is not on the Docker engine at %s any more: %w; bring it back, with docker pull %s or docker load",
			r.state.Image, r.state.Container, r.state.ImageID, r.engine.DaemonHost(), domarkx.ErrNotFound, r.state.Image)
	}
	if err != nil {
		return err
	}
	if r.state.Dirty {
		path := baseFile(r.env.Dir, r.state.Container)
		if r.base, err = readBaseline(path); err == nil && r.base == nil {
			r.gone = fmt.Errorf("%q is gone or not whole, and what is in container %.12s cannot be told from its image without it: %w", path, r.state.Container, domarkx.ErrCorrupt)
			r.lost = fmt.Errorf("%w; go back to a version with git domarkx rewind", r.gone)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return r.reconfigure(ctx)
}

// hasLast reports whether the container was committed, or loaded.
func (r *resource) hasLast() bool {
	_, err := os.Lstat(lastFile(r.env.Dir, r.state.Container))
	return err == nil
}

// miss notes that the container is not on the engine. Where the engine is the one that
// had it, it was removed, and nothing brings it back.
func (r *resource) miss(ctx context.Context) error {
	r.gone = fmt.Errorf("container %.12s is not on the Docker engine at %s: %w", r.state.Container, r.engine.DaemonHost(), domarkx.ErrNotFound)
	r.lost = fmt.Errorf("resource %q: %w; set DOCKER_HOST to the engine that has it, or go back to a version with git domarkx rewind", r.env.Resource, r.gone)
	info, err := r.engine.Info(ctx, client.InfoOptions{})
	if err != nil {
		return r.engine.explain(err)
	}
	r.final = !r.state.Dirty || r.state.Engine != "" && r.state.Engine == info.Info.ID
	return nil
}

// reconfigure makes the container what the config says by now.
func (r *resource) reconfigure(ctx context.Context) error {
	c := r.config
	if c.image != r.state.Image {
		i, err := r.engine.image(ctx, c.image)
		if err != nil {
			return err
		}
		if i.ID != r.image.ID {
			r.env.Warn(fmt.Sprintf("resource %q begins anew with image %q; what it held with %q is in its earlier versions",
				r.env.Resource, c.image, r.state.Image))
			return r.replace(ctx, i, true, func(context.Context, *filling) error { return nil })
		}
		r.state.Image = c.image
		return r.state.write(r.env.Dir)
	}
	if c.network == r.state.Network && c.memory == r.state.Memory && c.cpus == r.state.CPUs && slices.Equal(c.mounts, r.state.Mounts) {
		return nil
	}
	return r.move(ctx)
}
