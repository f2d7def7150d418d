package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Top returns the files in the top directory of a version, keyed by name.
func Top(ctx context.Context, r domarkx.VersionReader, version string) (map[string]domarkx.File, error) {
	top, err := r.Top(ctx, version)
	if err != nil {
		return nil, err
	}
	files, err := r.Directory(ctx, top.ID)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]domarkx.File, len(files))
	for _, f := range files {
		byName[f.Name] = f
	}
	return byName, nil
}

// deepest limits how deeply directories may be nested.
const deepest = 16

// Walk calls fn for each regular file below a directory of a version, sorted by name. Paths begin
// with the path of that directory.
func Walk(ctx context.Context, r domarkx.VersionReader, path string, directory domarkx.File, fn func(path string, f domarkx.File) error) error {
	return walk(ctx, r, path, directory, 0, fn)
}

func walk(ctx context.Context, r domarkx.VersionReader, path string, directory domarkx.File, depth int, fn func(string, domarkx.File) error) error {
	if directory.Type != domarkx.Directory || depth > deepest {
		return fmt.Errorf("%q is not a directory of a database's version: %w", path, domarkx.ErrCorrupt)
	}
	files, err := r.Directory(ctx, directory.ID)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := path + "/" + f.Name
		switch f.Type {
		case domarkx.Regular:
			err = fn(at, f)
		case domarkx.Directory:
			err = walk(ctx, r, at, f, depth+1, fn)
		default:
			err = fmt.Errorf("%q is a %v: %w", at, f.Type, domarkx.ErrCorrupt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Copy writes a file of a version to w.
func Copy(ctx context.Context, r domarkx.VersionReader, f domarkx.File, w io.Writer) error {
	c, err := r.Content(ctx, f.ID)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.NewSectionReader(c, 0, f.Size))
	if err == nil && n != f.Size {
		err = fmt.Errorf("%q: %d bytes of %d: %w", f.Name, n, f.Size, domarkx.ErrCorrupt)
	}
	return errors.Join(err, c.Close())
}

// Read returns the content of a file of a version that has at most limit bytes.
func Read(ctx context.Context, r domarkx.VersionReader, f domarkx.File, limit int64) ([]byte, error) {
	if f.Type != domarkx.Regular || f.Size > limit {
		return nil, fmt.Errorf("%q is not a file of at most %d bytes: %w", f.Name, limit, domarkx.ErrCorrupt)
	}
	var b bytes.Buffer
	err := Copy(ctx, r, f, &b)
	return b.Bytes(), err
}
