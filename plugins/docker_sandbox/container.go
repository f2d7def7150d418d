package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"
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
func (e *engine) create(ctx context.Context, i image, c config, labels map[string]string) (string, error) {
	mounts := []mount.Mount{{Type: mount.TypeVolume, Target: agentDir}} // an anonymous volume, removed with the container
	for _, m := range c.mounts {
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: !m.Writable})
	}
	init := false
	made, err := e.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config: &container.Config{
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
			Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		},
		HostConfig: &container.HostConfig{
			NetworkMode: container.NetworkMode(c.network),
			LogConfig:   container.LogConfig{Type: "none"}, // standard output carries the agent's answers
			Mounts:      mounts,
			Init:        &init,
			Resources:   c.resources(),
		},
	})
	if err != nil {
		return "", fmt.Errorf("create a container: %w", e.explain(err))
	}
	if err := e.sendAgent(ctx, made.ID); err != nil {
		return "", errors.Join(err, e.remove(ctx, made.ID))
	}
	return made.ID, nil
}

// spare is how many processes a container may have for its agent and its threads.
const spare = 64

// resources returns the limits of a container.
func (c config) resources() container.Resources {
	r := container.Resources{Memory: c.memory, MemorySwap: c.memory, NanoCPUs: c.cpus}
	if c.most > 0 {
		most := c.most + spare
		r.PidsLimit = &most
	}
	return r
}

// limit changes the memory and the processes that a container may use.
func (e *engine) limit(ctx context.Context, id string, c config) error {
	r := c.resources()
	_, err := e.ContainerUpdate(ctx, id, client.ContainerUpdateOptions{Resources: &container.Resources{Memory: r.Memory, MemorySwap: r.MemorySwap, PidsLimit: r.PidsLimit}})
	if err != nil {
		return fmt.Errorf("limit container %.12s: %w", id, e.explain(err))
	}
	return nil
}

// kill stops a container; its files stay.
func (e *engine) kill(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	_, err := e.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		return fmt.Errorf("stop container %.12s: %w", id, e.explain(err))
	}
	return nil
}

// remove removes a container, running or not, and its anonymous volumes.
func (e *engine) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	_, err := e.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) {
		if errdefs.IsConflict(err) && strings.Contains(err.Error(), "already in progress") {
			return nil
		}
		return fmt.Errorf("remove container %.12s: %w", id, e.explain(err))
	}
	return nil
}

// labelled lists the containers that have a label.
func (e *engine) labelled(ctx context.Context, label string) ([]container.Summary, error) {
	list, err := e.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", label)})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", e.explain(err))
	}
	return list.Items, nil
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
