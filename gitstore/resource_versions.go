package gitstore

import (
	"context"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/version"
)

var _ domarkx.VersionReader = reader{}

// Top returns the top directory of a version of a resource. See [domarkx.VersionReader].
func (r reader) Top(ctx context.Context, id string) (domarkx.File, error) {
	return r.resourceVersions().Top(ctx, id)
}

// Directory returns the files in a directory of a version. See [domarkx.VersionReader].
func (r reader) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	return r.resourceVersions().Directory(ctx, id)
}

// Content opens the content of a file of a version. See [domarkx.VersionReader].
func (r reader) Content(ctx context.Context, id string) (domarkx.Content, error) {
	return r.resourceVersions().Content(ctx, id)
}

// CheckVersion checks the directories of a version of a resource. See
// [version.Store.Check].
func (r reader) CheckVersion(ctx context.Context, base, id string) error {
	return r.resourceVersions().Check(ctx, base, id)
}

// DiffVersions compares two versions of a resource. See [version.Store.Diff].
func (r reader) DiffVersions(ctx context.Context, a, b string, fn func(path string, old, new *domarkx.File) error) error {
	return r.resourceVersions().Diff(ctx, a, b, fn)
}

func (r reader) resourceVersions() version.Store { return version.New(r.db) }

// FindFile returns the id of the content of a regular file in a version of a resource, or "". See
// [version.Store.Find].
func (r reader) FindFile(_ context.Context, id, path string) (string, error) {
	return r.resourceVersions().Find(id, path)
}

// HasPath reports whether a version of a resource has a file or directory at a path. See [version.Store.Has].
func (r reader) HasPath(_ context.Context, id, path string) (bool, error) {
	return r.resourceVersions().Has(id, path)
}
