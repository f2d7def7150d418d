package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// An engine is a connection to the Docker engine of DOCKER_HOST, or to the local one.
type engine struct {
	*engineapi.Client
	agent    program
	patience time.Duration // how long the agent has to answer; a command may have replaced it
}

func connect(ctx context.Context, agent program) (*engine, error) {
	c, err := engineapi.New(os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("connect to the Docker engine: %w", err)
	}
	e := &engine{Client: c, agent: agent}
	system, err := c.Ping(ctx)
	if err == nil && system != "" && system != "linux" {
		err = fmt.Errorf("the Docker engine runs %s containers, not linux: %w", system, domarkx.ErrUnsupported)
	}
	if err != nil {
		c.Close()
		return nil, e.explain(err)
	}
	return e, nil
}

// explain adds to an error of an unreachable engine what the user can do.
func (e *engine) explain(err error) error {
	host := e.Host()
	var unreachable *engineapi.ConnectionError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission for the Docker engine at %s: %w; add yourself to the group docker, or set DOCKER_HOST to an engine of your own", host, err)
	case errors.As(err, &unreachable):
		return fmt.Errorf("no Docker engine answers at %s: %w; start it (systemctl start docker), install it (apt-get install docker.io), or set DOCKER_HOST", host, err)
	}
	return fmt.Errorf("ask the Docker engine at %s: %w", host, err)
}

// image finds an image by name or id.
func (e *engine) image(ctx context.Context, name string) (engineapi.Image, error) {
	r, err := e.Client.Image(ctx, name)
	if errors.Is(err, engineapi.ErrNotFound) {
		return engineapi.Image{}, fmt.Errorf("image %q is not on the Docker engine at %s: %w; run: docker pull %s", name, e.Host(), domarkx.ErrNotFound, name)
	}
	if err != nil {
		return engineapi.Image{}, e.explain(err)
	}
	return r, nil
}

// imageOfLayers finds an image by the digests of its layers.
func (e *engine) imageOfLayers(ctx context.Context, name string, layers []string) (engineapi.Image, error) {
	if i, err := e.image(ctx, name); err == nil && slices.Equal(i.RootFS.Layers, layers) {
		return i, nil
	}
	list, err := e.Images(ctx)
	if err != nil {
		return engineapi.Image{}, e.explain(err)
	}
	for _, item := range list {
		if i, err := e.image(ctx, item.ID); err == nil && slices.Equal(i.RootFS.Layers, layers) {
			return i, nil
		}
	}
	return engineapi.Image{}, fmt.Errorf("the version was made from an image %q that the Docker engine at %s does not have, or has with other content (its last layer was %s): %w; get that image with docker pull or docker load",
		name, e.Host(), lastOf(layers), domarkx.ErrNotFound)
}

func lastOf(layers []string) string {
	if len(layers) == 0 {
		return "none"
	}
	return layers[len(layers)-1]
}

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
	own := engineapi.Mount{Type: "volume", Target: agentDir} // an anonymous volume, removed with the container
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
			NetworkMode: c.Network,
			LogConfig:   engineapi.LogConfig{Type: "none"}, // standard output carries the agent's answers
			Mounts:      append([]engineapi.Mount{own}, c.Mounts...),
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
	r := engineapi.Resources{Memory: c.Memory, MemorySwap: c.Memory, NanoCPUs: c.CPUs}
	if c.Processes > 0 {
		r.PidsLimit = c.Processes + spare
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

// sweep removes the containers of a resource except its current one. A killed process may have left them.
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
