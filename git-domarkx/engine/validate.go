package engine

import (
	"context"
	"crypto/sha256"
	"io"
	"path/filepath"

	"github.com/domarkx/domarkx/format"
)

// Validate decodes documents and gives what is wrong with each to bad.
func (m *SessionManager) Validate(ctx context.Context, paths []string, stdin io.Reader, bad func(error)) error {
	c := &collector{manager: m, stdin: stdin, as: "-"}
	return c.collect(ctx, paths, func(in input) error {
		files := includeReader{root: filepath.Dir(in.path), digest: sha256.New()}
		defer files.close()
		src := format.Source{Path: in.path, Data: in.data, Include: files.read}
		if _, err := in.codec.Decode(src); err != nil {
			bad(err)
		}
		return nil
	}, bad)
}
