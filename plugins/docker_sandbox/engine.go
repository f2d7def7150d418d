package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/moby/moby/client"
)

// An engine is a connection to the Docker engine of DOCKER_HOST, or to the local one.
type engine struct {
	*client.Client
	agent    program
	patience time.Duration // how long the agent has to answer; a command may have replaced it
}

func connect(ctx context.Context, agent program) (*engine, error) {
	c, err := client.New(client.FromEnv)
	if err != nil {
		return nil, fmt.Errorf("read DOCKER_HOST and its like: %w", err)
	}
	e := &engine{Client: c, agent: agent}
	ping, err := c.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err == nil && ping.OSType != "" && ping.OSType != "linux" {
		err = fmt.Errorf("the Docker engine runs %s containers, not linux: %w", ping.OSType, domarkx.ErrUnsupported)
	}
	if err != nil {
		c.Close()
		return nil, e.explain(err)
	}
	return e, nil
}

// explain adds to an error of an unreachable engine what the user can do.
func (e *engine) explain(err error) error {
	host := e.DaemonHost()
	switch {
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EACCES):
		return fmt.Errorf("no permission for the Docker engine at %s: %w; add yourself to the group docker, or set DOCKER_HOST to an engine of your own", host, err)
	case client.IsErrConnectionFailed(err) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no Docker engine answers at %s: %w; start it (systemctl start docker), install it (apt-get install docker.io), or set DOCKER_HOST", host, err)
	}
	return fmt.Errorf("ask the Docker engine at %s: %w", host, err)
}

// An image holds the properties of an image that the plugin needs.
type image struct {
	ID      string
	Layers  []string // digests of the uncompressed layers
	Arch    string
	Env     []string
	User    string
	Dir     string
	Entry   []string
	Volumes []string
}

// image finds an image by name or id.
func (e *engine) image(ctx context.Context, name string) (image, error) {
	r, err := e.ImageInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return image{}, fmt.Errorf("image %q is not on the Docker engine at %s: %w; run: docker pull %s", name, e.DaemonHost(), domarkx.ErrNotFound, name)
	}
	if err != nil {
		return image{}, e.explain(err)
	}
	i := image{ID: r.ID, Layers: r.RootFS.Layers, Arch: r.Architecture}
	if c := r.Config; c != nil {
		i.Env, i.User, i.Dir, i.Entry = c.Env, c.User, c.WorkingDir, c.Entrypoint
		for path := range c.Volumes {
			i.Volumes = append(i.Volumes, path)
		}
		slices.Sort(i.Volumes)
	}
	return i, nil
}

// imageOfLayers finds an image by the digests of its layers.
func (e *engine) imageOfLayers(ctx context.Context, name string, layers []string) (image, error) {
	if i, err := e.image(ctx, name); err == nil && slices.Equal(i.Layers, layers) {
		return i, nil
	}
	list, err := e.ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return image{}, e.explain(err)
	}
	for _, item := range list.Items {
		if i, err := e.image(ctx, item.ID); err == nil && slices.Equal(i.Layers, layers) {
			return i, nil
		}
	}
	return image{}, fmt.Errorf("the version was made from an image %q that the Docker engine at %s does not have, or has with other content (its last layer was %s): %w; get that image with docker pull or docker load",
		name, e.DaemonHost(), lastOf(layers), domarkx.ErrNotFound)
}

func lastOf(layers []string) string {
	if len(layers) == 0 {
		return "none"
	}
	return layers[len(layers)-1]
}
