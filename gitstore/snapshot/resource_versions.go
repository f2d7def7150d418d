package snapshot

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/version"
)

var _ domarkx.VersionReader = Reader{}

// Top returns the top directory of a version of a resource. See [domarkx.VersionReader].
func (r Reader) Top(ctx context.Context, id string) (domarkx.File, error) {
	return r.resourceVersions().Top(ctx, id)
}

// Directory returns the files in a directory of a version. See [domarkx.VersionReader].
func (r Reader) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	return r.resourceVersions().Directory(ctx, id)
}

// Content opens the content of a file of a version. See [domarkx.VersionReader].
func (r Reader) Content(ctx context.Context, id string) (domarkx.Content, error) {
	return r.resourceVersions().Content(ctx, id)
}

// CheckVersion checks the directories of a version of a resource. See
// [version.Store.Check].
func (r Reader) CheckVersion(ctx context.Context, base, id string) error {
	return r.resourceVersions().Check(ctx, base, id)
}

// DiffVersions compares two versions of a resource. See [version.Store.Diff].
func (r Reader) DiffVersions(ctx context.Context, a, b string, fn func(path string, old, new *domarkx.File) error) error {
	return r.resourceVersions().Diff(ctx, a, b, fn)
}

func (r Reader) resourceVersions() version.Store { return version.New(r.db) }

// FindFile returns the id of the content of a regular file in a version of a resource, or "". See
// [version.Store.Find].
func (r Reader) FindFile(_ context.Context, id, path string) (string, error) {
	return r.resourceVersions().Find(id, path)
}

// HasPath reports whether a version of a resource has a directory, regular file or symbolic link at a path. See
// [version.Store.Has].
func (r Reader) HasPath(_ context.Context, id, path string) (bool, error) {
	return r.resourceVersions().Has(id, path)
}
