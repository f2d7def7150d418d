package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
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
