package database

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Version writes files to a [domarkx.VersionWriter].
type Version struct {
	w           domarkx.VersionWriter
	directories map[string]bool
}

// Begin begins a version with its top directory.
func Begin(ctx context.Context, w domarkx.VersionWriter) (*Version, error) {
	return &Version{w: w, directories: map[string]bool{"": true}}, w.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755})
}

// File adds a file and its parent directories. The paths must come in depth-first order.
func (v *Version) File(ctx context.Context, path string, data []byte) error {
	for i, c := range path {
		if directory := path[:i]; c == '/' && !v.directories[directory] {
			v.directories[directory] = true
			if err := v.w.Add(ctx, directory, domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
				return err
			}
		}
	}
	return v.add(ctx, path, v.w.Content, bytes.NewReader(data), int64(len(data)))
}

// Large adds a large file at the top of the version. It stores the content in parts if the writer
// is a [domarkx.PartWriter], since most parts stay the same from version to version.
func (v *Version) Large(ctx context.Context, path string, r io.Reader, size int64) error {
	store := v.w.Content
	if p, ok := v.w.(domarkx.PartWriter); ok {
		store = p.ContentInParts
	}
	return v.add(ctx, path, store, r, size)
}

func (v *Version) add(ctx context.Context, path string, store func(context.Context, io.Reader) (string, int64, error), r io.Reader, size int64) error {
	id, stored, err := store(ctx, r)
	if err == nil && stored != size {
		err = fmt.Errorf("file %q: %d bytes of %d were stored: %w", path, stored, size, domarkx.ErrConflict)
	}
	if err != nil {
		return err
	}
	return v.w.Add(ctx, path, domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size})
}
