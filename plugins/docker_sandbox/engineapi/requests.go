package engineapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

func get[T any](ctx context.Context, c *Client, at string, query url.Values) (out T, err error) {
	err = c.call(ctx, http.MethodGet, at, query, nil, &out)
	return out, err
}

// An Info describes an engine.
type Info struct {
	ID string // of its data directory
}

// Info asks for the engine's id.
func (c *Client) Info(ctx context.Context) (Info, error) { return get[Info](ctx, c, "/info", nil) }

// An Image is an image on the engine. In a list it has only the id.
type Image struct {
	ID     string
	RootFS struct {
		Layers []string // digests of the uncompressed layers
	}
	Config struct {
		Env        []string
		User       string
		WorkingDir string
		Entrypoint []string
		Volumes    map[string]struct{}
	}
}

// Image finds an image by its name or id.
func (c *Client) Image(ctx context.Context, name string) (Image, error) {
	return get[Image](ctx, c, "/images/"+name+"/json", nil)
}

// Images lists the images on the engine.
func (c *Client) Images(ctx context.Context) ([]Image, error) {
	return get[[]Image](ctx, c, "/images/json", nil)
}

// A Config has the settings of a new container.
type Config struct {
	Image, Hostname, User, WorkingDir       string
	Entrypoint, Cmd                         []string
	OpenStdin                               bool
	StdinOnce                               bool // standard input ends with the first connection to it
	AttachStdin, AttachStdout, AttachStderr bool
	Labels                                  map[string]string
	Healthcheck                             Healthcheck
	HostConfig                              HostConfig
}

// A Healthcheck is how the engine checks that a container works; the test NONE turns off that of the image.
type Healthcheck struct{ Test []string }

// A HostConfig is the part of a [Config] that depends on the machine.
type HostConfig struct {
	NetworkMode string
	LogConfig   LogConfig
	Mounts      []Mount
	Init        bool // whether the engine adds an init process
	Resources
}

// A LogConfig says where the output of a container is stored.
type LogConfig struct{ Type string }

// A Mount is a volume, anonymous without a source, or a directory of the host in a container.
type Mount struct {
	Type     string // volume or bind
	Source   string `json:",omitempty"`
	Target   string
	ReadOnly bool
}

// Resources limit a container. What is 0 has no limit, or keeps it in an update.
type Resources struct {
	Memory     int64 `json:",omitempty"` // in bytes
	MemorySwap int64 `json:",omitempty"` // memory and swap together
	NanoCPUs   int64 `json:"NanoCpus,omitempty"`
	PidsLimit  int64 `json:",omitempty"`
}

// Create creates a container and returns its id.
func (c *Client) Create(ctx context.Context, config Config) (string, error) {
	var made struct{ ID string }
	err := c.call(ctx, http.MethodPost, "/containers/create", nil, config, &made)
	return made.ID, err
}

// Update changes the limits of a container.
func (c *Client) Update(ctx context.Context, id string, r Resources) error {
	return c.call(ctx, http.MethodPost, "/containers/"+id+"/update", nil, r, nil)
}

// Start starts a container, unless it runs.
func (c *Client) Start(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/containers/"+id+"/start", nil, nil, nil)
}

// PutArchive unpacks a tar archive in a directory of a container, running or not.
func (c *Client) PutArchive(ctx context.Context, id, dir string, archive io.Reader) error {
	query := url.Values{"path": {dir}, "noOverwriteDirNonDir": {"1"}}
	return c.call(ctx, http.MethodPut, "/containers/"+id+"/archive", query, archive, nil)
}

// A State is the state of a container.
type State struct{ Running, OOMKilled bool }

// Inspect returns the state of a container.
func (c *Client) Inspect(ctx context.Context, id string) (State, error) {
	found, err := get[struct{ State State }](ctx, c, "/containers/"+id+"/json", nil)
	return found.State, err
}

// A Container is an entry in a list of containers.
type Container struct {
	ID     string
	Labels map[string]string
}

// List lists the containers, running or not, that have a label: NAME or NAME=VALUE.
func (c *Client) List(ctx context.Context, label string) ([]Container, error) {
	filters, err := json.Marshal(map[string][]string{"label": {label}})
	if err != nil {
		return nil, err
	}
	return get[[]Container](ctx, c, "/containers/json", url.Values{"all": {"1"}, "filters": {string(filters)}})
}

// Kill ends a container with SIGKILL. The error matches [ErrConflict] if the container does not run.
func (c *Client) Kill(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/containers/"+id+"/kill", url.Values{"signal": {"KILL"}}, nil, nil)
}

// Remove removes a container, running or not, and its anonymous volumes.
func (c *Client) Remove(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/containers/"+id, url.Values{"force": {"1"}, "v": {"1"}}, nil, nil)
}
