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

// The labels of containers.
const (
	labelInstance  = "org.domarkx.instance" // random, of the resource on this machine
	labelDir       = "org.domarkx.dir"      // the resource's own directory
	labelHost      = "org.domarkx.host"     // the machine where that directory is
	labelWorkspace = "org.domarkx.workspace"
	labelResource  = "org.domarkx.resource"
)

// endTimeout bounds how long ending a container may take.
const endTimeout = 30 * time.Second

// create makes a container, with the agent in it, and does not start it.
func (e *engine) create(ctx context.Context, i image, c config, labels map[string]string) (string, error) {
	mounts := []mount.Mount{{Type: mount.TypeVolume, Target: agentDir}} // a volume that goes with the container
	for _, m := range c.mounts {
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: !m.Writable})
	}
	init := false
	made, err := e.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config: &container.Config{
			Image:       i.ID,
			Hostname:    "sandbox", // not random: commands may show it, and are replayed
			User:        "0:0",     // of the agent; commands run as the image's user
			WorkingDir:  "/",
			Entrypoint:  e.agent.entry(),
			Cmd:         []string{agentCommand},
			OpenStdin:   true,
			StdinOnce:   true, // the end of the connection is the end of the input, and of the container
			AttachStdin: true, AttachStdout: true, AttachStderr: true,
			Labels:      labels,
			Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		},
		HostConfig: &container.HostConfig{
			NetworkMode: container.NetworkMode(c.network),
			LogConfig:   container.LogConfig{Type: "none"}, // the output is the agent's answers
			Mounts:      mounts,
			Init:        &init,
			Resources:   container.Resources{Memory: c.memory, NanoCPUs: c.cpus},
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

// kill ends a container; its files stay.
func (e *engine) kill(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	_, err := e.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		return fmt.Errorf("stop container %.12s: %w", id, e.explain(err))
	}
	return nil
}

// remove removes a container with its own volumes, running or not.
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

// labelled lists the containers with a label.
func (e *engine) labelled(ctx context.Context, label string) ([]container.Summary, error) {
	list, err := e.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", label)})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", e.explain(err))
	}
	return list.Items, nil
}

// sweep removes the containers of a resource but the one that it has: a killed
// process left them.
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
