package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// StoreIncludes stores included files and returns the id of their tree for [domarkx.HeaderEntry], or "" if there are
// none. It returns [domarkx.ErrInvalid] for duplicate paths and for a path that leads outside of the document's
// directory.
func (b *Builder) StoreIncludes(ctx context.Context, files []domarkx.Include) (string, error) {
	var entries []odb.TreeEntry
	for _, f := range files {
		name, err := codec.IncludeName(f.Path)
		if err != nil {
			return "", err
		}
		blob := domarkx.Blob{Data: f.Data}
		if err := b.out.StoreBlob(ctx, &blob); err != nil {
			return "", fmt.Errorf("included file %q: %w", f.Path, err)
		}
		if blob.Chunks == "" {
			b.out.Keep(odb.Blob, f.Data) // rendering the document in this update reads them
		}
		if entries, err = object.AppendFile(entries, name, blob); err != nil {
			return "", err
		}
	}
	id, err := b.out.WriteTree(entries)
	return name(id), err
}

// Includes returns the files in a tree of [Builder.StoreIncludes], sorted by path. The tree "" has none.
func (r Reader) Includes(ctx context.Context, tree string) ([]domarkx.Include, error) {
	blobs, paths, err := r.includes(tree)
	if err != nil {
		return nil, err
	}
	files := make([]domarkx.Include, len(blobs))
	for i, b := range blobs {
		data, err := r.Read(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("included file %q: %w", paths[i], err)
		}
		files[i] = domarkx.Include{Path: paths[i], Data: data}
	}
	slices.SortFunc(files, func(a, b domarkx.Include) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func (r Reader) includes(tree string) (blobs []domarkx.Blob, paths []string, err error) {
	if tree == "" {
		return nil, nil, nil
	}
	id, err := odb.ParseID(tree)
	if err != nil {
		return nil, nil, fmt.Errorf("includes: %w", err)
	}
	entries, err := r.objects.Tree(id)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if e.IsTree() {
			continue // the chunk tree of a large file
		}
		path, err := codec.IncludePath(e.Name)
		if err != nil {
			return nil, nil, err
		}
		b, err := object.File(entries, e.Name)
		if err != nil {
			return nil, nil, fmt.Errorf("included file %q: %w", path, err)
		}
		blobs, paths = append(blobs, b), append(paths, path)
	}
	return blobs, paths, nil
}
