package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"

	"github.com/domarkx/domarkx/format"
)

// Validate decodes documents and gives what is wrong with each to bad, also what
// an import would work around.
func (m *SessionManager) Validate(ctx context.Context, paths []string, stdin io.Reader, bad func(error)) error {
	c := &collector{manager: m, stdin: stdin, stdinAs: "-"}
	all, err := c.find(ctx, paths, bad)
	if err != nil {
		return err
	}
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		in, err := c.read(f)
		var unreadable *unreadableError
		if errors.As(err, &unreadable) {
			bad(unreadable.error)
			continue
		}
		if err != nil {
			return err
		}
		m.validate(in, bad)
	}
	return nil
}

func (m *SessionManager) validate(in input, bad func(error)) {
	files := includeReader{root: filepath.Dir(in.path), digest: sha256.New()}
	defer files.close()
	doc, err := in.codec.Decode(format.Source{Path: in.path, Data: in.data, Include: files.read})
	if err != nil {
		bad(err)
		return
	}
	for _, report := range doc.Damage {
		bad(report)
	}
}
