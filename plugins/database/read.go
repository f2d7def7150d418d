package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// deepest limits how deeply directories may be nested.
const deepest = 16

// Files returns the regular files of a version, by path.
func Files(ctx context.Context, r domarkx.VersionReader, version string) (map[string]domarkx.File, error) {
	files := map[string]domarkx.File{}
	err := domarkx.WalkVersion(ctx, r, version, func(path string, f domarkx.File) error {
		switch {
		case f.Type == domarkx.Regular:
			files[path] = f
		case f.Type != domarkx.Directory || strings.Count(path, "/") > deepest:
			return fmt.Errorf("%q is a %v, which is not in a database's version: %w", path, f.Type, domarkx.ErrCorrupt)
		}
		return nil
	})
	return files, err
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
