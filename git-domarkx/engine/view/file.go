package view

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// File returns the file at RESOURCE/PATH, or the top of a RESOURCE, in a version of a workspace. The error matches
// [domarkx.ErrNotFound] if there is none.
func File(ctx context.Context, store *gitstore.Store, v domarkx.Version, path string) (domarkx.File, error) {
	missing := fmt.Errorf("file %q: %w in version %s", path, domarkx.ErrNotFound, v.ID)
	names := strings.Split(path, "/")
	i := slices.IndexFunc(v.Resources, func(r domarkx.ResourceVersion) bool { return r.ID == names[0] && r.Version != "" })
	if i < 0 {
		return domarkx.File{}, missing
	}
	f, err := store.Top(ctx, v.Resources[i].Version)
	for _, name := range names[1:] {
		if err != nil {
			return f, err
		}
		if f.Type != domarkx.Directory {
			return f, missing
		}
		var files []domarkx.File
		files, err = store.Directory(ctx, f.ID)
		k := slices.IndexFunc(files, func(f domarkx.File) bool { return f.Name == name })
		if k >= 0 {
			f = files[k]
		} else if err == nil {
			err = missing
		}
	}
	return f, err
}
