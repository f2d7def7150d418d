package openpocket

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/directory"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
)

// Plugin implements domarkx.Plugin.
type Plugin struct{}

// New returns the plugin. The program's main must call [process.Supervise] first.
func New() Plugin { return Plugin{} }

// Type returns "openpocket".
func (Plugin) Type() string { return "openpocket" }

const configProperties = `,
"screenshots": {"type": "string", "minLength": 1, "description": "directory of the screenshots, from the top of the resource; state/screenshots unless given"},
"max_screenshots": {"type": "integer", "minimum": 1, "description": "how many screenshots are kept; 400 unless given"}`

// Describe returns the config and the tools.
func (Plugin) Describe(context.Context) (domarkx.Description, error) {
	config := jsonvalue.MustParse(`{"type": "object", "properties": {` + directory.Properties + configProperties + `}, "additionalProperties": false}`)
	d := domarkx.Description{Source: "built-in", Config: config}
	for _, t := range tools {
		d.Tools = append(d.Tools, domarkx.NewTool(t.name, t.description, t.properties+at, t.required))
	}
	d.Tools = append(d.Tools, directory.Tools()...)
	return d, nil
}

// Paths of files, relative to the resource, which is OpenPocket's home.
const (
	sessionsDir  = "workspace/sessions"
	memoryDir    = "workspace/memory"
	scriptsDir   = "workspace/scripts"
	runsDir      = scriptsDir + "/runs"
	artifactsDir = "state/human-auth-artifacts"

	defaultScreenshots    = "state/screenshots"
	defaultMaxScreenshots = 400
)

// Open opens the directory of a resource.
func (p Plugin) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	r := &resource{screenshots: defaultScreenshots, maxScreenshots: defaultMaxScreenshots}
	if err := env.Literal("screenshots"); err != nil {
		return nil, err
	}
	if dir, ok := env.Config.Get("screenshots"); ok {
		clean := filepath.Clean(filepath.FromSlash(dir.Text()))
		if !filepath.IsLocal(clean) || strings.ContainsRune(dir.Text(), 0) {
			return nil, fmt.Errorf("screenshots %q is outside of the resource, expected a directory in it: %w", dir.Text(), domarkx.ErrInvalid)
		}
		r.screenshots = filepath.ToSlash(clean)
	}
	if n, ok := env.Config.Get("max_screenshots"); ok {
		most, err := strconv.Atoi(n.Text())
		if err != nil || most < 1 {
			return nil, fmt.Errorf("max_screenshots %s is not a number of screenshots: %w", n.Text(), domarkx.ErrInvalid)
		}
		r.maxScreenshots = most
	}
	var err error
	if r.Resource, err = directory.Open(env); err != nil {
		return nil, err
	}
	r.root = r.Resource.Files()
	r.sandbox = localshell.NewSandbox(r.Resource, env, p.Type())
	return r, nil
}

// A resource is a directory with the files of OpenPocket.
type resource struct {
	*directory.Resource
	root           *directory.Files
	sandbox        *localshell.Sandbox
	screenshots    string // slash-separated, from the top
	maxScreenshots int
}

func (r *resource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	if err := ctx.Err(); err != nil {
		return domarkx.Result{}, err
	}
	for _, t := range tools {
		if t.name != call.Tool {
			continue
		}
		complete, err := r.Defaults(ctx, call.Tool, call.Arguments)
		if err != nil {
			return domarkx.Result{}, err
		}
		v, err := t.run(r, ctx, arguments{complete})
		return domarkx.Result{Value: v}, err
	}
	return r.Resource.Execute(ctx, call)
}

// TearDown closes the resource and removes its own files.
func (r *resource) TearDown(ctx context.Context) error {
	r.sandbox.TearDown()
	return r.Resource.TearDown(ctx)
}
