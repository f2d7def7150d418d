package dockersandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// A Plugin manages resources of type docker_sandbox.
type Plugin struct {
	// Agent is the path of a program that calls [AgentMain]; default the running program.
	Agent string
	// wait, unless 0, replaces leftoversTimeout and agentTimeout.
	wait time.Duration
}

// New returns a plugin that uses the running program as the agent.
func New() *Plugin { return &Plugin{} }

// AgentMain runs the agent if args (os.Args) ask for it, and reports in ok whether they did. The
// program should then exit with code.
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

// Type returns "docker_sandbox".
func (*Plugin) Type() string { return "docker_sandbox" }

// Describe works without an engine.
func (*Plugin) Describe(context.Context) (domarkx.Description, error) {
	return domarkx.Description{
		Source: "built-in",
		Config: jsonvalue.MustParse(configSchema),
		Tools: []domarkx.Tool{{
			Name:        "run_command",
			Description: "Runs a shell command in the container and returns its exit code and output.",
			Schema:      jsonvalue.MustParse(runCommandSchema),
		}},
		Languages: slices.Sorted(maps.Keys(languages)),
	}, nil
}

// Open opens the container of a resource, and creates it if needed.
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
		return nil, errors.Join(err, r.Close(ctx))
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
	e, err := connect(ctx, agent)
	if err == nil {
		e.patience = cmp.Or(p.wait, agentTimeout)
	}
	return e, err
}

// open finds the container of the resource, or creates it.
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
	var found engineapi.State
	fresh := r.state.Container == ""
	if !fresh {
		found, err = r.engine.Inspect(ctx, r.state.Container)
		_, missing := os.Lstat(lastFile(r.env.Dir, r.state.Container))                    // it was neither committed nor loaded
		fresh = errors.Is(err, engineapi.ErrNotFound) && !r.state.Dirty && missing != nil // nothing ran in it yet
	}
	if fresh {
		if r.image, err = r.engine.image(ctx, r.config.Image); err != nil {
			return err
		}
		return r.make(ctx)
	}
	if errors.Is(err, engineapi.ErrNotFound) {
		return r.markLost(ctx)
	}
	if err != nil {
		return r.engine.explain(err)
	}
	if found.Running {
		// A process that was just killed used it, and the container has not ended yet.
		if err := r.engine.kill(ctx, r.state.Container); err != nil {
			return err
		}
	}
	if r.image, err = r.engine.image(ctx, r.state.ImageID); errors.Is(err, domarkx.ErrNotFound) {
		return fmt.Errorf("image %q, from which container %.12s was created (%s), is no longer on the Docker engine at %s: %w; restore it with docker pull %s or docker load",
			r.state.Image, r.state.Container, r.state.ImageID, r.engine.Host(), domarkx.ErrNotFound, r.state.Image)
	}
	if err != nil {
		return err
	}
	if r.state.Dirty {
		path := baseFile(r.env.Dir, r.state.Container)
		if r.base, err = readBaseline(path); err == nil && r.base == nil {
			r.unusable = fmt.Errorf("%q is missing or damaged, and without it the changes in container %.12s cannot be determined: %w", path, r.state.Container, domarkx.ErrCorrupt)
			r.lost = fmt.Errorf("%w; go back to a version with git domarkx rewind", r.unusable)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return r.reconfigure(ctx)
}

// markLost records that the container is not on the engine. If this is the engine that had it,
// the container was removed and cannot come back.
func (r *resource) markLost(ctx context.Context) error {
	r.unusable = fmt.Errorf("container %.12s is not on the Docker engine at %s: %w", r.state.Container, r.engine.Host(), domarkx.ErrNotFound)
	r.lost = fmt.Errorf("resource %q: %w; set DOCKER_HOST to the engine that has it, or go back to a version with git domarkx rewind", r.env.Resource, r.unusable)
	info, err := r.engine.Info(ctx)
	if err != nil {
		return r.engine.explain(err)
	}
	r.final = !r.state.Dirty || r.state.Engine != "" && r.state.Engine == info.ID
	return nil
}

// reconfigure applies the current config to the container.
func (r *resource) reconfigure(ctx context.Context) error {
	c := r.config
	if c.Image != r.state.Image {
		i, err := r.engine.image(ctx, c.Image)
		if err != nil {
			return err
		}
		if i.ID != r.image.ID {
			r.env.Warn(fmt.Sprintf("resource %q starts afresh with image %q; its files with image %q are in its earlier versions",
				r.env.Resource, c.Image, r.state.Image))
			return r.replace(ctx, i, true, &difference{}, func(*agent.Application) error { return nil })
		}
		r.state.Image = c.Image
		return r.state.write(r.env.Dir)
	}
	if c.Network != r.state.Network || c.CPUs != r.state.CPUs || !slices.Equal(c.Mounts, r.state.Mounts) {
		return r.recreate(ctx)
	}
	if c.Memory == r.state.Memory && c.Processes == r.state.Processes {
		return nil
	}
	if c.Memory == 0 || c.Processes == 0 || r.engine.limit(ctx, r.state.Container, c) != nil {
		return r.recreate(ctx) // Docker can change a limit, but not remove it
	}
	r.state.Memory, r.state.Processes = c.Memory, c.Processes
	return r.state.write(r.env.Dir)
}

// configSchema is the JSON Schema of the config.
const configSchema = `{
  "type": "object",
  "required": ["image"],
  "additionalProperties": false,
  "properties": {
    "image": {"type": "string", "minLength": 1, "description": "the image; it must be on the engine already"},
    "command": {
      "description": "a service that runs during the calls: its arguments, or a line for sh",
      "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]
    },
    "env": {
      "type": "object",
      "description": "environment of the service and of all commands",
      "propertyNames": {"pattern": "^[^=]+$"},
      "additionalProperties": {"type": ["string", "number", "boolean"]}
    },
    "mounts": {
      "type": "array",
      "description": "directories of the host; git config domarkx.allowMount must name them",
      "items": {
        "type": "object",
        "required": ["source", "target"],
        "additionalProperties": false,
        "properties": {
          "source": {"type": "string", "minLength": 1, "description": "directory of the host; relative to the work tree"},
          "target": {"type": "string", "pattern": "^/.", "description": "absolute path in the container"},
          "writable": {"type": "boolean"}
        }
      }
    },
    "network": {"type": "string", "minLength": 1, "description": "none by default; others need git config domarkx.allowNetwork true"},
    "memory": {
      "description": "limit in bytes, or with the suffix b, k, m or g",
      "anyOf": [{"type": "integer", "minimum": 6291456}, {"type": "string", "pattern": "^[0-9]+[bkmgBKMG]?$"}]
    },
    "cpus": {"type": "number", "exclusiveMinimum": 0, "description": "limit, such as 1.5"}
  }
}`

const runCommandSchema = `{
  "type": "object",
  "required": ["command"],
  "additionalProperties": false,
  "properties": {
    "command": {"type": "string", "description": "a command line for the container's sh"},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "seconds after which all processes in the container are killed"}
  }
}`

// languages maps the language of a code block to its interpreters; the first one that the container has is used.
var languages = map[string][]string{
	"sh":      {"sh"},
	"shell":   {"sh"},
	"bash":    {"bash"},
	"python":  {"python3", "python"},
	"python3": {"python3"},
}
