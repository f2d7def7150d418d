package filesystem

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/directory"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// An observed resource is a directory of the work tree in which other programs work. Its tools only read, and
// loading a version changes nothing. Package observe takes its versions.
type observed struct {
	*directory.Resource
	env domarkx.Env
}

// openObserved opens a directory that is only observed.
func openObserved(env domarkx.Env) (domarkx.Resource, error) {
	if _, named := env.Config.Get("path"); !named {
		return nil, fmt.Errorf("observe: %w: it needs a path, because nothing else works in a private directory", domarkx.ErrInvalid)
	}
	f, err := directory.Open(env)
	if err != nil {
		return nil, err
	}
	return observed{f, env}, nil
}

// Execute calls one of the tools that only read.
func (o observed) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	switch call.Tool {
	case "write_file", "edit_file", "move", "delete":
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeRefused,
			Message: fmt.Sprintf("%s changes files, and this resource only observes the work tree", call.Tool)}
	}
	return o.Resource.Execute(ctx, call)
}

// Changed reports no change: versions are taken when the observed program stops.
func (observed) Changed(context.Context) (bool, error) { return false, nil }

// Commit writes the present content of the directory that is not ignored, except that tracked files count as
// ignored if a pattern matches them.
func (o observed) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	f, err := dirversion.Open(dirversion.Config{Path: o.Path(), Forbidden: o.Hidden(), Limits: o.env.Limits, Warn: o.env.Warn, Observe: &dirversion.Observe{}})
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Commit(ctx, w)
}

// CheckLoad accepts every version.
func (observed) CheckLoad(context.Context, domarkx.VersionReader, string, string) error { return nil }

// Load leaves the directory as it is.
func (observed) Load(context.Context, domarkx.VersionReader, string) error { return nil }
