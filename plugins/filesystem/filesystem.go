// Package filesystem implements the resource type "filesystem": a directory with tools to read
// and change its files.
package filesystem

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/directory"
)

// Plugin implements domarkx.Plugin.
type Plugin struct{}

// New returns the plugin.
func New() Plugin { return Plugin{} }

// Type returns "filesystem".
func (Plugin) Type() string { return "filesystem" }

// Describe returns the config and the tools.
func (Plugin) Describe(context.Context) (domarkx.Description, error) {
	config, err := jsonvalue.ParseValue([]byte(`{"type": "object", "properties": {` + directory.Properties + `,
"observe": {"const": true, "description": "other programs work in the directory: tools only read, and loading a version changes nothing"},
"ignored": {"const": false, "description": "with observe: no version has what Git ignores"}
}, "dependentRequired": {"observe": ["path", "ignored"], "ignored": ["observe"]}, "additionalProperties": false}`))
	return domarkx.Description{Source: "built-in", Config: config, Tools: directory.Tools()}, err
}

// Open opens the directory of a resource.
func (Plugin) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	if _, ok := env.Config.Get("observe"); ok {
		return openObserved(env)
	}
	f, err := directory.Open(env)
	if err != nil {
		return nil, err
	}
	return resource{f}, nil
}

// A resource is a directory and nothing else.
type resource struct{ *directory.Resource }

var _ domarkx.ChangeCommitter = resource{}

// CommitChange commits the directory if it changed. See [domarkx.ChangeCommitter].
func (r resource) CommitChange(ctx context.Context, begin func() (domarkx.VersionWriter, error)) (bool, error) {
	return r.CommitIncrement(ctx, begin)
}
