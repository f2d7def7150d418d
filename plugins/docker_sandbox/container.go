package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// Labels of containers.
const (
	labelInstance  = "org.domarkx.instance" // random; identifies the resource on this machine
	labelDir       = "org.domarkx.dir"      // the resource's own directory
	labelHost      = "org.domarkx.host"     // the machine that has this directory
	labelWorkspace = "org.domarkx.workspace"
	labelResource  = "org.domarkx.resource"
)

// endTimeout limits how long stopping a container may take.
const endTimeout = 30 * time.Second

// create creates a container with the agent in it, without starting it.
func (e *engine) create(ctx context.Context, i engineapi.Image, c config, labels map[string]string) (string, error) {
	mounts := []engineapi.Mount{{Type: "volume", Target: agentDir}} // an anonymous volume, removed with the container
	for _, m := range c.mounts {
		mounts = append(mounts, engineapi.Mount{Type: "bind", Source: m.Source, Target: m.Target, ReadOnly: !m.Writable})
	}
	id, err := e.Create(ctx, engineapi.Config{
		Image:       i.ID,
		Hostname:    "sandbox", // constant, because commands may print it and are replayed
		User:        "0:0",     // of the agent; commands run as the image's user
		WorkingDir:  "/",
		Entrypoint:  e.agent.entry(),
		Cmd:         []string{agentCommand},
		OpenStdin:   true,
		StdinOnce:   true, // when the connection ends, the agent's input ends, and so the container
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
		Labels:      labels,
		Healthcheck: engineapi.Healthcheck{Test: []string{"NONE"}},
		HostConfig: engineapi.HostConfig{
			NetworkMode: c.network,
			LogConfig:   engineapi.LogConfig{Type: "none"}, // standard output carries the agent's answers
			Mounts:      mounts,
			Resources:   c.resources(),
		},
	})
	if err != nil {
		return "", fmt.Errorf("create a container: %w", e.explain(err))
	}
	if err := e.sendAgent(ctx, id); err != nil {
		return "", errors.Join(err, e.remove(ctx, id))
	}
	return id, nil
}

// spare is how many processes a container may have for its agent and its threads.
const spare = 64

// resources returns the limits of a container.
func (c config) resources() engineapi.Resources {
	r := engineapi.Resources{Memory: c.memory, MemorySwap: c.memory, NanoCPUs: c.cpus}
	if c.most > 0 {
		r.PidsLimit = c.most + spare
	}
	return r
}

// limit changes the memory and the processes that a container may use.
func (e *engine) limit(ctx context.Context, id string, c config) error {
	r := c.resources()
	r.NanoCPUs = 0 // stay
	if err := e.Update(ctx, id, r); err != nil {
		return fmt.Errorf("limit container %.12s: %w", id, e.explain(err))
	}
	return nil
}

// kill stops a container; its files stay.
func (e *engine) kill(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	err := e.Kill(ctx, id)
	if err != nil && !errors.Is(err, engineapi.ErrNotFound) && !errors.Is(err, engineapi.ErrConflict) {
		return fmt.Errorf("stop container %.12s: %w", id, e.explain(err))
	}
	return nil
}

// remove removes a container, running or not, and its anonymous volumes.
func (e *engine) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	err := e.Remove(ctx, id)
	if err != nil && !errors.Is(err, engineapi.ErrNotFound) {
		if errors.Is(err, engineapi.ErrConflict) && strings.Contains(err.Error(), "already in progress") {
			return nil
		}
		return fmt.Errorf("remove container %.12s: %w", id, e.explain(err))
	}
	return nil
}

// labelled lists the containers that have a label.
func (e *engine) labelled(ctx context.Context, label string) ([]engineapi.Container, error) {
	list, err := e.List(ctx, label)
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", e.explain(err))
	}
	return list, nil
}

// sweep removes the containers of a resource except its current one. A killed process may have
// left them.
func (e *engine) sweep(ctx context.Context, instance, but string) error {
	list, err := e.labelled(ctx, labelInstance+"="+instance)
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.ID == but {
			continue
		}
		if err := e.remove(ctx, c.ID); err != nil {
			return err
		}
	}
	return nil
}
