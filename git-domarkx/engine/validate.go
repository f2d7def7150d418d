package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
)

// Validate decodes documents and gives what is wrong with each to bad, also what
// an import would work around. It returns how many there were.
func (m *SessionManager) Validate(ctx context.Context, paths []string, stdin io.Reader, bad func(error)) (documents int, err error) {
	c := &collector{manager: m, stdin: stdin, stdinAs: "-"}
	all, err := c.find(ctx, paths, bad)
	if err != nil {
		return 0, err
	}
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		in, err := c.read(f)
		var unreadable *unreadableError
		if errors.As(err, &unreadable) {
			bad(unreadable.error)
			continue
		}
		if err != nil {
			return 0, err
		}
		validate(in, bad)
		in.close()
	}
	return len(all), nil
}

func validate(in input, bad func(error)) {
	files := includeReader{root: filepath.Dir(in.path), digest: sha256.New()}
	defer files.close()
	for conv, err := range in.conversations(files.read) {
		if err != nil {
			bad(err)
			return
		}
		if err := in.check(conv, true); err != nil {
			bad(err)
			return
		}
		for _, report := range conv.doc.Damage {
			bad(report)
		}
		return // all damage is told with the first
	}
}
