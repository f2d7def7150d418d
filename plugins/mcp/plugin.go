package mcp

import (
	"context"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/directory"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
)

// CallTimeout is the longest time that a call may take.
const CallTimeout = 120 * time.Second

// Plugin implements domarkx.Plugin.
type Plugin struct{ limits limits }

// New returns the plugin. The program's main must call [process.Supervise] first.
//
// [process.Supervise]: https://pkg.go.dev/github.com/domarkx/domarkx/plugins/process#Supervise
func New() Plugin {
	return Plugin{limits{call: CallTimeout, start: startTimeout, message: maxMessage, grace: endGrace}}
}

// limits are the limits that tests lower.
type limits struct {
	call    time.Duration // of a call
	start   time.Duration // until the server has listed its tools
	message int           // bytes of a message
	grace   time.Duration // that a program has to end after its standard input was closed
}

// Type returns "mcp".
func (Plugin) Type() string { return "mcp" }

const config = `{"type": "object", "properties": {` + directory.Properties + `,
"command": {"type": "string", "minLength": 1, "description": "program of the server: a name on PATH, or a path from the directory"},
"args": {"type": "array", "items": {"type": "string"}, "description": "its arguments"},
"env": {"type": "object", "additionalProperties": {"type": "string"}, "description": "its environment variables; secrets as ${NAME}"},
"url": {"type": "string", "minLength": 1, "description": "in place of command: URL of the server (streamable HTTP); the user allows it with domarkx.allowURL"},
"headers": {"type": "object", "additionalProperties": {"type": "string"}, "description": "HTTP headers for the URL; secrets as ${NAME}"}},
"oneOf": [{"required": ["command"], "properties": {"url": false, "headers": false}}, {"required": ["url"], "properties": {"command": false, "args": false, "env": false}}],
"additionalProperties": false}`

// Describe returns the config. The tools are those of each server: see
// [domarkx.ToolLister].
func (p Plugin) Describe(context.Context) (domarkx.Description, error) {
	return domarkx.Description{Source: "built-in", Config: jsonvalue.MustParse(config), CallTimeout: p.limits.call, NotReplayed: true}, nil
}

// Open opens the directory of a resource. It does not start the server.
func (p Plugin) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	if err := env.Literal("command", "args"); err != nil {
		return nil, err
	}
	if env.Redact == nil {
		env.Redact = func(text string) string { return text }
	}
	if env.Warn == nil {
		env.Warn = func(string) {}
	}
	dir, err := directory.Open(env)
	if err != nil {
		return nil, err
	}
	r := &resource{Resource: dir, env: env, limits: p.limits}
	if _, ok := env.Config.Get("command"); ok {
		r.sandbox = localshell.NewSandbox(dir, env, p.Type())
	}
	return r, nil
}
