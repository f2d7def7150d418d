package importer

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/domarkx/domarkx/git-domarkx/engine/secrets"
)

// read opens a document. With a request to redact, its content is that without secrets.
func (c *collector) read(ctx context.Context, f found) (input, error) {
	in, err := c.open(ctx, f)
	if err != nil || c.redact == nil {
		return in, err
	}
	in.replacer = c.redact()
	if err := in.redact(); err != nil {
		in.close()
		return input{}, &unreadableError{inputError(in, err)}
	}
	return in, nil
}

// redact replaces the content of a document by a temporary file without its secrets.
func (in *input) redact() error {
	file, err := os.CreateTemp("", "git-domarkx-*")
	if err != nil {
		return err
	}
	size, err := in.replacer.Copy(file, io.NewSectionReader(in.content, 0, in.size))
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	in.close()
	in.file, in.temporary, in.content, in.size = file, file.Name(), file, size
	return nil
}

// replaced returns the content of an included file without secrets, if the request says so.
func (r *includeReader) replaced(data []byte) []byte {
	if r.replacer == nil {
		return data
	}
	return r.replacer.Bytes(data)
}

// A newReplacer makes the replacer of a document.
type newReplacer func() *secrets.Replacer
